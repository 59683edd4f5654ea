"""Changed results of the study of worst cases."""

from tests.findings.changes import scaled

CHANGED = {
    "exact": lambda data: scaled(data, "theory", 1 + 1e-6, method="error feedback"),
    "heavy ball": lambda data: scaled(data, "theory", 10, method="heavy ball"),
    "best steps": lambda data: data.assign(theory=data["upper"]),
    "local steps": lambda data: scaled(data, "theory", 1.1, method="local steps"),
    "proved": lambda data: scaled(data, "lower", 0.99),
}
