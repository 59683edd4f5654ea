"""Changed results of the study of error floors."""

from tests.findings.changes import scaled

CHANGED = {
    "floor": lambda data: scaled(data, "simulated", 1.2, share=1.0),
    "bounds": lambda data: scaled(data, "bias", 0.2),
    "grows": lambda data: data.assign(floor=data["floor"].roll(share=1)),
    "shorter steps": lambda data: data.assign(simulated=data["simulated"].roll(step_size=1)),
    "mean field": lambda data: scaled(data, "mean_field", 0.8, share=0.5),
    "gap": lambda data: data.assign(duality_gap=data["duality_gap"] + 1e-3),
    "variance": lambda data: scaled(data, "simulated", 5, share=0.1, step_size=5e-5),
}
