"""One round in plain Python, with the same calls of a strategy's rules as in the compiled loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.jit import is_compiled
from fedtheory._support.validate import Array
from fedtheory._support.wording import truncate
from fedtheory.engine.faults import fault_of_clients, fault_of_weights, raised_by
from fedtheory.engine.replicates import compiled_rule, guarded
from fedtheory.selection.rules import RULES, Rules

__all__ = ["play_round"]

Clients = npt.NDArray[np.int64]


class Played(NamedTuple):
    """Clients that reported losses (d,) and that trained (m,), updates (m, v), coefficients, and other floats sent."""

    asked: Clients
    chosen: Clients
    updates: Array
    coefficients: Array
    extra: float


def play_round(
    rules: Rules,
    memory: Array,
    weights: Array,
    round_index: int,
    rng: np.random.Generator,
    losses_of: Callable[[Clients], Array],
    updates_of: Callable[[Clients], Array],
) -> Played:
    """Run the rules of one round in the order of the round loop, with all clients present.

    The rules may change ``memory``. ``losses_of`` and ``updates_of`` map clients to their losses, shape (d,), and to
    their model differences, shape (m, v). Here the client with the larger loss trains:

    >>> from fedtheory.selection.power_of_choice import PowerOfChoice
    >>> weights, losses, updates = np.array([0.5, 0.5]), np.array([2.0, 3.0]), np.array([[5.0], [7.0]])
    >>> rules, rng = PowerOfChoice(1, 2).rules(weights, 1), np.random.default_rng(0)
    >>> play_round(rules, rules.memory, weights, 0, rng, losses.__getitem__, updates.__getitem__).chosen
    array([1])
    """
    known = _given(rules, memory, weights, round_index, rng)
    weights = known["weights"]
    validate.function("losses_of", losses_of, "clients")
    validate.function("updates_of", updates_of, "clients")
    candidates, chosen = np.full(rules.max_candidates, -1), np.full(rules.max_selected, -1)
    asked = candidates[:0]
    if rules.propose is not None:
        size = _call(rules.propose, "propose", candidates=candidates, **known)
        _refuse("propose", round_index, fault_of_clients(candidates, size, weights.size))
        asked = candidates[:size]
    proposed, losses = asked.copy(), np.array(losses_of(asked))  # these arguments are scratch for the next rule
    size = _call(rules.select, "select", candidates=asked, losses=losses, chosen=chosen, **known)
    _refuse("select", round_index, fault_of_clients(chosen, size, weights.size))
    trained = chosen[:size]
    updates, coefficients = updates_of(trained), np.full(trained.size, 1.0 / max(trained.size, 1))
    extra = 0.0
    if rules.weigh is not None:
        extra = _call(rules.weigh, "weigh", chosen=trained, updates=updates, coefficients=coefficients, **known)
        _refuse("weigh", round_index, fault_of_weights(extra, coefficients, trained))
    return Played(proposed, trained, updates, coefficients, extra)


def after_round(
    rules: Rules, memory: Array, weights: Array, round_index: int, rng: np.random.Generator, played: Played, **seen: Any
) -> None:
    """Call the rules that value and observe the result of a round."""
    known = _given(rules, memory, weights, round_index, rng)
    for name, rule in (("value", rules.value), ("observe", rules.observe)):
        if rule is not None:
            _call(rule, name, **known, **played._asdict(), **seen)


def _given(rules: Rules, memory: Any, weights: Array, round_index: int, rng: np.random.Generator) -> dict[str, Any]:
    validate.instance("rules", rules, Rules, "the Rules of a strategy")
    validate.instance("rng", rng, np.random.Generator, "a numpy.random.Generator")
    is_array = isinstance(memory, np.ndarray) and not isinstance(memory, np.ma.MaskedArray)
    if not is_array or memory.dtype != np.float64 or memory.ndim != 1:
        message = f"memory must be a vector of float64, which the rules write, got {truncate(memory)}"
        raise TypeError(message)
    shares = validate.array("weights", weights, ndim=1)
    number = validate.horizon("round_index", round_index)
    return {"round_index": number, "table": rules.table, "memory": memory, "weights": shares, "rng": rng}


def _call(rule: Callable[..., Any], name: str, **values: Any) -> Any:
    """Call a rule with the arguments of its slot; arrays that it must not write are read-only, as in the loop."""
    slot = RULES[name]
    try:
        called = guarded(slot, compiled_rule(name, rule) if is_compiled(rule) else rule)
        return called(*(values[one] for one in slot.arguments))
    except Exception as error:
        message = raised_by(f"the rule {name}", values["round_index"], error)
        if message:
            raise (TypeError if isinstance(error, TypeError) else ValueError)(message) from error
        raise


def _refuse(name: str, round_index: int, wrong: str) -> None:
    if wrong:
        message = f"the rule {name} must {wrong} in round {round_index}"
        raise ValueError(message)
