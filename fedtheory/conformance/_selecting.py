"""One round of somebody's selection, as a draw: from a plain function, or from a strategy's rules."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fedtheory._support.validate import Array, Mask
from fedtheory._support.wording import short
from fedtheory.conformance._timeouts import Failed, Timer
from fedtheory.engine.play import Played, play_round
from fedtheory.sampling._selections import Selection
from fedtheory.selection.rules import Rules, Strategy, rules_of

__all__ = ["Case", "Draw", "clients_in", "of_function", "of_strategy", "played"]

Draw = Callable[[np.random.Generator], Selection]
"""Draws the clients of one round, in increasing order and with copies."""


@dataclass(frozen=True, eq=False)
class Case:
    """What a selection sees: weights and losses, shape (K,) each."""

    weights: Array
    losses: Array

    @property
    def num_clients(self) -> int:
        """K."""
        return self.losses.size

    @property
    def given(self) -> dict[str, Any]:
        """The case by name, for messages."""
        return {"weights": self.weights, "losses": self.losses}

    def renamed(self, order: npt.NDArray[np.intp]) -> "Case":
        """Client j becomes the one who was ``order[j]``."""
        return Case(self.weights[order], self.losses[order])


def of_function(function: Callable[..., Any], timer: Timer, case: Case) -> Draw:
    """Return the draw of a function ``(rng, weights, losses) -> client numbers``."""

    def draw(rng: np.random.Generator) -> Selection:
        arguments = (rng, case.weights.copy(), case.losses.copy())
        answer = timer.call(function, *arguments, case=case.given)
        return clients_in(answer, case)

    return draw


def clients_in(answer: object, case: Case) -> Selection:
    """Return an answer as clients in increasing order; ``Failed`` if it is no list of clients."""
    if isinstance(answer, set | frozenset):
        answer = list(answer)
    try:
        clients = np.asarray(answer)
    except Exception as error:
        raise Failed(f"must return client numbers, got {short(answer)}", **case.given) from error
    if clients.size == 0 and clients.ndim == 1:
        return ()
    if clients.ndim != 1 or clients.dtype.kind not in "iu":
        kind = f"an array of {clients.dtype} of shape {clients.shape}" if clients.ndim else type(answer).__name__
        raise Failed(f"must return a row of client numbers, got {kind}", **case.given)
    chosen = tuple(sorted(clients.tolist()))
    if chosen[0] < 0 or chosen[-1] >= case.num_clients:
        wrong = chosen[0] if chosen[0] < 0 else chosen[-1]
        raise Failed(f"clients must be in 0..{case.num_clients - 1}, got {wrong}", **case.given).of("range")
    return chosen


class Present(NamedTuple):
    """Who is there in a round: weights as the rules see them, and a mask."""

    weights: Array
    mask: Mask


def of_strategy(strategy: Strategy, timer: Timer, case: Case) -> Draw:
    """Return the draw of a strategy's first round, with losses and updates that the case prescribes."""
    play = played(strategy, timer, case)
    return lambda rng: clients_in(play(rng).chosen, case)


def played(strategy: Strategy, timer: Timer, case: Case) -> Callable[[np.random.Generator], Played]:
    """Return a function that plays a first round; updates have norms that grow with the losses."""
    rules = timer.call(rules_of, strategy, case.weights, 1, case=case.given)
    with np.errstate(over="ignore"):
        updates = np.minimum(np.sqrt(np.abs(case.losses)), 1e9)[:, None]

    def first_round(rng: np.random.Generator) -> Played:
        there = _attend(rules, case, rng)
        memory = rules.memory.copy()
        round_ = play_round(rules, memory, there.weights, 0, rng, case.losses.__getitem__, updates.__getitem__)
        here = there.mask[round_.chosen]
        return round_._replace(chosen=round_.chosen[here], coefficients=round_.coefficients[here])

    return lambda rng: timer.call(first_round, rng, case=case.given)


def _attend(rules: Rules, case: Case, rng: np.random.Generator) -> Present:
    mask = np.ones(case.num_clients, dtype=bool)
    if rules.attend is not None:
        rules.attend(0, rules.attend_table, rules.attend_memory.copy(), rng, mask)
    there = case.weights * mask
    total = there.sum()
    weights = there / total if total > 0 and not mask.all() else there
    return Present(np.where(mask, weights, -1.0), mask)
