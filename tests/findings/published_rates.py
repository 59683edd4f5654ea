"""Changed results of the study of published rates."""

from typing import Any

from tests.findings.changes import scaled


def shared(share: float) -> Any:
    """Let every bound promise the same share of the progress."""
    return lambda data: data.assign(share=0.0 * data["share"].fillna(0.0) + share)


def refuted(data: Any) -> Any:
    """Let every worst case exceed its bound."""
    return data.assign(status=data["status"].where(data["status"] == "", "refuted"))


CHANGED = {
    "all": refuted,
    **dict.fromkeys(("fedavg", "fedavg_sampled", "averaged_local_gradient_descent", "power_of_choice"), shared(0.5)),
    "local_gradient_descent": lambda data: scaled(data, "ratio", 10),
    "fednova": lambda data: scaled(data, "ratio", 10),
    **dict.fromkeys(("fedprox", "fedalign"), shared(0.0)),
}
