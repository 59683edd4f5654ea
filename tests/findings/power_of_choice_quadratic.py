"""Changed results of the study of Power-of-Choice on quadratics."""

from tests.findings.changes import scaled, swapped

CHANGED = {
    "early and late": lambda data: data.assign(speedup=1 / data["speedup"]),
    # Stopped at d = K/4, as after a quarter of the halvings, adapow-d keeps a floor.
    "adaptive": lambda data: scaled(data, "final_gap", 5, strategy="adapow-d"),
    "behind": lambda data: scaled(data, "band", 1e-6, strategy="adapow-d"),
    "candidates": lambda data: swapped(data, "strategy", "pow-d, d = 2m", "pow-d, d = 10m"),
    "speed-ups": lambda data: scaled(data, "speedup", 0.5, strategy="pow-d, d = 2m"),
    "ceiling": lambda data: scaled(data, "speedup", 2),
    "shares": lambda data: data.assign(share=data["share"].roll(client=1)),
}
