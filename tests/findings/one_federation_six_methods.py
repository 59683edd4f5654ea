"""Changed results of the study of six methods."""

from tests.findings.changes import scaled, swapped

CHANGED = {
    "race": lambda data: swapped(data, "algorithm", "EF21", "FedAvg"),
    "cost": lambda data: swapped(data, "algorithm", "EF21", "SCAFFOLD"),
    "floors": lambda data: scaled(data, "gap", 1e-3, algorithm="FedNova"),
    "synthetic": lambda data: swapped(data, "problem", "quadratics", "Synthetic(1, 1)"),
    "bound": lambda data: scaled(data, "bound", 0.1),
    "fixed point": lambda data: scaled(data, "floor", 3),
}
