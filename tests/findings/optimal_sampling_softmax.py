"""Changed results of the study of optimal client sampling on digits."""

from tests.findings.changes import scaled, swapped

CHANGED = {
    "kinds": lambda data: swapped(data, "kind", "unbalanced", "balanced"),
    "unbalanced": lambda data: swapped(data, "strategy", "uniform", "OCS"),
    "balanced": lambda data: swapped(data, "kind", "unbalanced", "balanced"),
    "full": lambda data: swapped(data, "strategy", "full", "OCS"),
    "rounds": lambda data: swapped(data, "strategy", "uniform", "OCS"),
    "bits": lambda data: scaled(data, "bits", 5, strategy="OCS"),
    "more bits": lambda data: scaled(data, "bits", 5, strategy="OCS"),
    "steps": lambda data: scaled(data, "step_size", 32, strategy="uniform"),
    "pool": lambda data: swapped(data, "strategy", "uniform", "OCS"),
    "bits of the pool": lambda data: scaled(data, "bits", 5, strategy="OCS"),
    "AOCS": lambda data: scaled(data, "accuracy", 1.001, strategy="AOCS"),
}
