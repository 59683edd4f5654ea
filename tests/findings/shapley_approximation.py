"""Changed results of the study of estimated Shapley values."""

from typing import Any

from tests.findings.changes import scaled


def of(data: Any, estimator: str, name: str, factor: float) -> Any:
    """Multiply a number of one estimator."""
    return data.assign({name: data[name].where(data["estimator"] != estimator, factor * data[name])})


CHANGED = {
    "GTG": lambda data: of(data, "GTG", "evaluations", 0.5),
    "sweeps": lambda data: of(data, "sweeps", "evaluations", 4),
    "as much": lambda data: of(data, "GTG", "error", 100),
    "order": lambda data: data.assign(error=data["error"].where(data["estimator"] != "sweeps", 0.5)),
    "cost": lambda data: scaled(data, "evaluations", 2),
}
