"""Availability of clients: a random process that determines who is present in each round.

A model of availability returns a compiled rule ``attend`` with its constants and its state (``AvailabilityRule``).
``Available`` adds the rule to those of a strategy. In each round the loop of ``fedtheory.engine`` calls it, divides the
weights of the present clients by their sum (``update_weights``), and removes absent clients from the results of the
strategy's rules (``keep_present``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, final

# mypy: allow-untyped-defs, allow-untyped-calls
# (selection/rules.py states the arguments of compiled rules)
import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.jit import compiled, jitable
from fedtheory._support.validate import Array
from fedtheory._support.values import to_tuples
from fedtheory._support.wording import truncate
from fedtheory.selection.rules import Rules, Strategy, checked_strategy, pack, rules_of
from fedtheory.theorem.scheme import Scheme

__all__ = ["AlternatingGroups", "Availability", "Available", "BernoulliAvailability"]


class AvailabilityRule(NamedTuple):
    """Attend rule (see ``fedtheory.selection.rules``) with its constants and its state before round 0."""

    rule: Any
    table: Array
    memory: Array


class Availability(Protocol):
    """Interface of availability models: random processes of the available clients in each round.

    If the rounds are independent draws from one law, a true attribute ``memoryless`` declares this.
    """

    def attendance(self, num_clients: int) -> AvailabilityRule:
        """Validate the parameters for the number of clients and return the rule."""


@final
@dataclass(frozen=True)
class AlternatingGroups:
    """Availability in which the first half of the clients (rounded up) and the second half alternate by round.

    Of the n clients whose turn it is, ``round(dropout n)`` are absent, drawn uniformly in each round.

    Source: Cho, Wang, Joshi (2020), Appendix G.3, with dropout 0.1.
    """

    dropout: float = 0.1

    def __post_init__(self) -> None:
        validate.fraction("dropout", self.dropout)

    def attendance(self, num_clients: int) -> AvailabilityRule:
        """Return the rule."""
        groups = (np.arange(num_clients) >= (num_clients + 1) // 2).astype(np.int64)
        sizes = np.bincount(groups)
        absent = np.floor(float(self.dropout) * sizes + 0.5)
        return AvailabilityRule(_take_turns, pack(sizes.size, sizes, absent, groups), np.empty(0))


@final
@dataclass(frozen=True)
class BernoulliAvailability:
    """Independent availability of each client with probability ``probability`` (a number, or one per client)."""

    probability: float | npt.ArrayLike
    memoryless: ClassVar[bool] = True

    def __post_init__(self) -> None:
        validate.fractions("probability", validate.array("probability", self.probability))
        object.__setattr__(self, "probability", to_tuples(self.probability))

    def attendance(self, num_clients: int) -> AvailabilityRule:
        """Return the rule."""
        given = validate.array("probability", self.probability)
        if given.ndim > 0:
            given = validate.array("probability", given, shape=(num_clients,))
        return AvailabilityRule(_flip_coins, np.broadcast_to(given, num_clients).copy(), np.empty(0))


@compiled
def _take_turns(round_index, table, memory, rng, present):
    num_groups = int(table[0])
    turn = round_index % num_groups
    members, absent, groups = int(table[1 + turn]), int(table[1 + num_groups + turn]), table[1 + 2 * num_groups :]
    here, left = members - absent, members
    for k in range(present.size):
        present[k] = False
        if groups[k] == turn:
            # Each member drops out with probability (drop-outs left)/(members left), so that all subsets are equally
            # likely.
            present[k] = rng.random() * left >= absent
            absent -= not present[k]
            left -= 1
    return here


@compiled
def _flip_coins(round_index, table, memory, rng, present):
    here = 0
    for k in range(present.size):
        present[k] = rng.random() < table[k]
        here += present[k]
    return here


@jitable
def update_weights(present, objective, weights):
    """Write the weights of the round, -1 for absent clients; return the number of available clients."""
    total, here = 0.0, 0
    for k in range(weights.size):
        total += objective[k] if present[k] else 0.0
        here += present[k]
    # With all clients present the sum is 1 up to rounding errors.
    scale = 1.0 if here == weights.size or total == 0.0 else 1.0 / total
    for k in range(weights.size):
        weights[k] = scale * objective[k] if present[k] else -1.0
    return here


@jitable
def keep_present(clients, size, present):
    """Remove absent clients from the first ``size`` entries; return how many are left."""
    kept = 0
    for i in range(size):
        clients[kept] = clients[i]
        kept += present[clients[i]]
    return kept


@final
@dataclass(frozen=True)
class Available:
    """Strategy restricted to the available clients of each round.

    The strategies of this package choose among the available clients, with weights renormalized to sum 1 over them. If
    a strategy ignores availability, absent clients are removed from its candidates and its selection. Availability has
    a separate random stream, so that strategies that are compared with one seed have the same available clients.
    Aggregation is at most unbiased for the objective of the available clients, not for that of all.

    Parameters
    ----------
    strategy, availability
        Strategy for the available clients, and their process, for example one of ``fedtheory.selection.availability``.
    shortfall
        ``refuse``: a run in which fewer clients are available than the strategy may select ends with a ValueError.
        ``allow``: it selects fewer. If no client is available, federated averaging does not change the model, and a
        method of ``fedtheory.methods`` takes its sums over no clients.
    """

    strategy: Strategy
    availability: Availability
    shortfall: Literal["refuse", "allow"] = "refuse"

    def __post_init__(self) -> None:
        checked_strategy(self.strategy)
        if not callable(getattr(self.availability, "attendance", None)):
            message = f"availability must have a method attendance(num_clients), got {truncate(self.availability)}"
            raise TypeError(message)
        validate.choice("shortfall", self.shortfall, ("refuse", "allow"))

    @property
    def scheme(self) -> Scheme:
        """The strategy's scheme, marked as depending on availability, with the memory of both."""
        inner = getattr(self.strategy, "scheme", Scheme("unknown", "unknown", memoryless=False))
        memoryless = inner.memoryless and getattr(self.availability, "memoryless", False)
        aggregation = (
            inner.aggregation if self.shortfall == "refuse" else f"{inner.aggregation} of the available, if any"
        )
        return Scheme(f"{inner.selection} among the available", aggregation, memoryless)

    def rules(self, weights: Array, num_rounds: int) -> Rules:
        """Return the strategy's rules and the attend rule."""
        rules = rules_of(self.strategy, weights, num_rounds)
        if rules.attend is not None:
            message = f"strategy must not have an availability already, got {self.strategy}"
            raise ValueError(message)
        rule, table, memory = self.availability.attendance(weights.size)
        least = rules.max_selected if self.shortfall == "refuse" else 0
        attendance = {"attend": rule, "attend_table": table, "attend_memory": memory, "min_present": least}
        return replace(rules, weigh=rules.weigh_present or rules.weigh, **attendance)
