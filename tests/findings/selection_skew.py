"""Changed results of the study of selection skews."""

from tests.findings.changes import scaled

CHANGED = {
    "rho_bar": lambda data: scaled(data, "bounds", 9, skew="rho_bar", share=1.0),
    "diagonal": lambda data: data.assign(bounds=data["bounds"].roll(share=1)),
    "along a run": lambda data: data.assign(along=data["along"].roll(share=1)),
    "estimator": lambda data: scaled(data, "bounds", 2, skew="rho_bar", side="upper"),
    "ratio": lambda data: scaled(data, "bounds", 1 / 2, skew="rho_tilde"),
    "noise": lambda data: data.assign(estimate=data["estimate"] + 0.5 * (data["number"] == "value")),
    "certified": lambda data: scaled(data, "bounds", 2, skew="rho_diagonal", side="lower"),
}
