"""Changed results of the study of worst cases."""

from typing import Any

from tests.findings.changes import scaled


def of(data: Any, method: str, name: str, factor: float) -> Any:
    """Multiply a number of one method."""
    return data.assign({name: data[name].where(data["method"] != method, factor * data[name])})


CHANGED = {
    "exact": lambda data: of(data, "error feedback", "theory", 1 + 1e-6),
    "heavy ball": lambda data: of(data, "heavy ball", "theory", 10),
    "best steps": lambda data: data.assign(theory=data["upper"]),
    "local steps": lambda data: of(data, "local steps", "theory", 1.1),
    "proved": lambda data: scaled(data, "lower", 0.99),
}
