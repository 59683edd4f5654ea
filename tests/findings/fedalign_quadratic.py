"""Changed results of the study of FedALIGN's threshold."""

from tests.findings.changes import scaled, swapped

CHANGED = {
    "early and late": lambda data: swapped(data, "world", "pooled", "private"),
    "small": lambda data: swapped(data, "threshold", "0.5", "4"),
    "private": lambda data: swapped(data, "world", "pooled", "private"),
    "annealed": lambda data: scaled(data, "error", 1.5, threshold="annealed"),
    "theta and rho": lambda data: swapped(data, "threshold", "0.25", "4"),
    "bounds": lambda data: scaled(data, "bound", 0.9, threshold="2"),
    "floors": lambda data: scaled(data, "floor", 1.2),
    "above": lambda data: swapped(data, "form", "recursion", "corrected"),
    "printed": lambda data: scaled(data, "bound", 1e-4, form="printed"),
}
