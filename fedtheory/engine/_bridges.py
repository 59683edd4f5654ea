"""Plain Python rules in compiled slots: each call goes back to the interpreter, which takes microseconds."""

# mypy: allow-untyped-defs, allow-untyped-calls

from collections.abc import Callable
from typing import Any

from numba import njit, objmode

__all__ = ["BRIDGES"]


def _bridge_propose(rule: Callable[..., Any]) -> Any:
    @njit
    def propose(round_index, table, memory, weights, rng, candidates):
        with objmode(size="int64"):
            size = int(rule(round_index, table, memory, weights, rng, candidates))
        return size  # noqa: RET504

    return propose


def _bridge_select(rule: Callable[..., Any]) -> Any:
    @njit
    def select(round_index, table, memory, weights, candidates, losses, rng, chosen):
        with objmode(size="int64"):
            size = int(rule(round_index, table, memory, weights, candidates, losses, rng, chosen))
        return size  # noqa: RET504

    return select


def _bridge_weigh(rule: Callable[..., Any]) -> Any:
    @njit
    def weigh(round_index, table, memory, weights, chosen, updates, rng, coefficients):
        with objmode(extra="float64"):
            extra = float(rule(round_index, table, memory, weights, chosen, updates, rng, coefficients))
        return extra  # noqa: RET504

    return weigh


def _bridge_observe(rule: Callable[..., Any]) -> Any:
    @njit
    def observe(round_index, table, memory, weights, chosen, coefficients, mean_losses):
        with objmode():
            rule(round_index, table, memory, weights, chosen, coefficients, mean_losses)

    return observe


def _bridge_attend(rule: Callable[..., Any]) -> Any:
    @njit
    def attend(round_index, table, memory, rng, present):
        with objmode(here="int64"):
            here = int(rule(round_index, table, memory, rng, present))
        return here  # noqa: RET504

    return attend


BRIDGES = {
    "propose": _bridge_propose,
    "select": _bridge_select,
    "weigh": _bridge_weigh,
    "observe": _bridge_observe,
    "attend": _bridge_attend,
}
