"""Worst cases of bounds on rounds of clients that differ at w*, of compressed communication, and of FedProx."""

from collections.abc import Mapping
from typing import Any

from fedtheory.bounds import error_feedback as compressed
from fedtheory.bounds import fedprox as proximal
from fedtheory.bounds import sgd
from fedtheory.theorem.bound import Bound
from fedtheory.worst_case._confrontations import Confrontation, Way, demand_0
from fedtheory.worst_case.compressed_rounds import compressed_gradients, ef21, error_feedback
from fedtheory.worst_case.heterogeneous_rounds import heterogeneous_round
from fedtheory.worst_case.proximal_rounds import fedprox

__all__ = ["WAYS"]

_EVERYBODY = "the worst case is that of all clients; drawn ones take the mean farther, and the promise is for them, too"


def _heterogeneous(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    how = "independent" if bound is sgd.drawn_step else "distinct"
    return Confrontation(bound(**given), heterogeneous_round(**{"local_steps": 1, "sampling": how, **given}))


def _with_a_memory(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    method = error_feedback if bound is compressed.ef_round else ef21
    return Confrontation(bound(**given), method(1, **given))


def _without_a_memory(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    known = {"gap" if name == "initial_gap" else name: value for name, value in given.items()}
    return Confrontation(bound(**given), compressed_gradients(**known))


def _proximal(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    demand_0(given, "inexactness", "negative_curvature", of="a round that is proved from both sides")
    known = {name: value for name, value in given.items() if name != "inexactness"}
    return Confrontation(bound(**given), fedprox(**known), _EVERYBODY)


WAYS: Mapping[Bound, Way] = {
    **dict.fromkeys((sgd.drawn_step, sgd.subset_step, sgd.local_steps_round), _heterogeneous),
    **dict.fromkeys((compressed.ef_round, compressed.ef21_round), _with_a_memory),
    compressed.cgd_gap: _without_a_memory,
    proximal.loss_change: _proximal,
}
