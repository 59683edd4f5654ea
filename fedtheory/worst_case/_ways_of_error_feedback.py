"""Worst cases of the bounds on compressed communication, with one client."""

from collections.abc import Mapping
from typing import Any

from fedtheory.bounds import error_feedback as bounds
from fedtheory.theorem.paper import Bound
from fedtheory.worst_case._confrontations import Confrontation, Way
from fedtheory.worst_case.compressed_rounds import compressed_gradients, ef21, error_feedback

__all__ = ["WAYS"]


def _memory(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    method = error_feedback if bound is bounds.ef_round else ef21
    return Confrontation(bound(**given), method(1, **given))


def _alone(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    known = {name: value for name, value in given.items() if name != "initial_gap"}
    return Confrontation(bound(**given), compressed_gradients(gap=given["initial_gap"], **known))


WAYS: Mapping[Bound, Way] = {bounds.ef_round: _memory, bounds.ef21_round: _memory, bounds.cgd_gap: _alone}
