"""Any strategy, among the clients that are there."""

from dataclasses import dataclass, replace
from typing import final

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory._support.wording import short
from fedtheory.selection.availability import Availability
from fedtheory.selection.rules import Rules, Strategy, checked_strategy, rules_of
from fedtheory.theorem.scheme import Scheme

__all__ = ["Available"]


@final
@dataclass(frozen=True)
class Available:
    """Apply a strategy in each round to the clients that are available then; nobody else is ever selected.

    The strategies of this package choose among those who are there, with weights renormalized to sum 1 over them. One
    that does not look at availability loses the absent clients that it proposes or chooses.

    Parameters
    ----------
    strategy
        What to do among the available clients.
    availability
        Who is available: one of ``fedtheory.selection.availability``, or the like.
    shortfall
        ``refuse``: a run in which fewer clients are available than the strategy may select ends with a ValueError.
        ``allow``: it selects fewer, and the model stays as it is when nobody is there.

    Notes
    -----
    Availability draws from a random stream of its own: strategies compared with one seed meet the same clients.
    Aggregation is unbiased for the available clients' objective at most, not for that of all.
    """

    strategy: Strategy
    availability: Availability
    shortfall: str = "refuse"

    def __post_init__(self) -> None:
        checked_strategy(self.strategy)
        if not callable(getattr(self.availability, "attendance", None)):
            message = f"availability must have a method attendance(num_clients), got {short(self.availability)}"
            raise TypeError(message)
        validate.choice("shortfall", self.shortfall, ("refuse", "allow"))

    @property
    def scheme(self) -> Scheme:
        """The strategy's scheme, marked: who is selected depends on who is there.

        It has a memory if availability has one, or the strategy; where nobody may be there it is not always a mean.
        """
        inner = getattr(self.strategy, "scheme", Scheme("unknown", "unknown", memoryless=False))
        memoryless = inner.memoryless and getattr(self.availability, "memoryless", False)
        aggregation = inner.aggregation if self.shortfall == "refuse" else f"{inner.aggregation} of those there, if any"
        return Scheme(f"{inner.selection} among the available", aggregation, memoryless)

    def law(self, weights: Array) -> None:
        """None: who is selected depends on who is there."""

    def rules(self, weights: Array, num_rounds: int) -> Rules:
        """Return the strategy's rules and the attend rule."""
        rules = rules_of(self.strategy, weights, num_rounds)
        if rules.attend is not None:
            message = f"strategy must not have an availability of its own, got {self.strategy}"
            raise ValueError(message)
        rule, table, memory = self.availability.attendance(weights.size)
        least = rules.max_selected if self.shortfall == "refuse" else 0
        attendance = {"attend": rule, "attend_table": table, "attend_memory": memory, "min_present": least}
        return replace(rules, weigh=rules.weigh_present or rules.weigh, **attendance)
