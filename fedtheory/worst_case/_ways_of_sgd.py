"""Worst cases of the bounds on clients that differ at w*."""

from collections.abc import Mapping
from typing import Any

from fedtheory.bounds import sgd
from fedtheory.theorem.paper import Bound
from fedtheory.worst_case._confrontations import Confrontation, Way
from fedtheory.worst_case.heterogeneous_rounds import heterogeneous_round

__all__ = ["WAYS"]


def _round(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    how = "independent" if bound is sgd.drawn_step else "distinct"
    return Confrontation(bound(**given), heterogeneous_round(**{"local_steps": 1, "sampling": how, **given}))


WAYS: Mapping[Bound, Way] = dict.fromkeys((sgd.drawn_step, sgd.subset_step, sgd.local_steps_round), _round)
