"""Changed results of the study of estimated Shapley values."""

from tests.findings.changes import scaled

CHANGED = {
    "GTG": lambda data: scaled(data, "evaluations", 0.5, estimator="GTG"),
    "sweeps": lambda data: scaled(data, "evaluations", 4, estimator="sweeps"),
    "as much": lambda data: scaled(data, "error", 100, estimator="GTG"),
    "order": lambda data: data.assign(error=data["error"].where(data["estimator"] != "sweeps", 0.5)),
    "cost": lambda data: scaled(data, "evaluations", 2),
}
