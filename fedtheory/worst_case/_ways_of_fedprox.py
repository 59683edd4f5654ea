"""The worst case of FedProx's theorem, with exact answers of all clients."""

from collections.abc import Mapping
from typing import Any

from fedtheory.bounds import fedprox as bounds
from fedtheory.theorem.paper import Bound
from fedtheory.worst_case._confrontations import Confrontation, Way
from fedtheory.worst_case.proximal_rounds import fedprox

__all__ = ["WAYS"]

_REMARK = "the worst case is that of all clients; drawn ones take the mean farther, and the promise is for them, too"


def _descent(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    if given["inexactness"] or given["negative_curvature"]:
        message = (
            "inexactness and negative_curvature must be 0 for a worst case that is proved from both sides, got "
            f"{given['inexactness']} and {given['negative_curvature']}"
        )
        raise ValueError(message)
    known = {name: value for name, value in given.items() if name != "inexactness"}
    return Confrontation(bound(**given), fedprox(**known), _REMARK)


WAYS: Mapping[Bound, Way] = {bounds.loss_change: _descent}
