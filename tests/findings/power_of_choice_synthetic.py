"""Changed results of the study of Power-of-Choice on Synthetic(1, 1)."""

from tests.findings.changes import swapped

CHANGED = {
    "speed": lambda data: swapped(data, "strategy", "rand", "pow-d, d = 2m"),
    "criterion": lambda data: swapped(data, "strategy", "rand", "pow-d, d = 10m"),
    "ten": lambda data: swapped(data, "num_selected", 1, 2),
    "two": lambda data: swapped(data, "strategy", "pow-d, d = 2m", "pow-d, d = 10m"),
    "adaptive": lambda data: swapped(data, "strategy", "adapow-d", "pow-d, d = 2m"),
    "floor": lambda data: swapped(data, "strategy", "adapow-d", "pow-d, d = 10m"),
    "adaptive floor": lambda data: swapped(data, "strategy", "adapow-d", "pow-d, d = 10m"),
    # A strategy that never comes down.
    "learns": lambda data: data.assign(loss=data["loss"].where(data["strategy"] != "adapow-d", 2.0)),
}
