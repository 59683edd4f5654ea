"""A promise beside the worst case of the class that it speaks about."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from fedtheory._support.validate import Array
from fedtheory.theorem.bound import Bound
from fedtheory.worst_case._embedding import Embedding
from fedtheory.worst_case._settings import Setting
from fedtheory.worst_case.instances import Instance
from fedtheory.worst_case.problem import Problem
from fedtheory.worst_case.solution import Solution
from fedtheory.worst_case.worst_cases import WorstCase, worst_of

__all__: list[str] = []


class Charge(NamedTuple):
    """What a constant costs: by how much the promise grows with it, and its multiplier in the worst case's lemma."""

    promise: Fraction
    worst: Fraction


class Confrontation(NamedTuple):
    """A promise and the worst case.

    Attributes
    ----------
    promise
        The bound's value, as a squared distance where its proof bounds one and multiplies it by L/2 in the end.
    worst
        The worst case of its hypotheses.
    remark
        How the two classes differ, if they do.
    charges
        By the name of a constant of the worst case, what promise and worst case charge for it. Where the promise
        charges much more, its proof pays too much for this constant.
    """

    promise: Any
    worst: WorstCase | Solution
    remark: str = ""
    charges: Mapping[str, Charge] = {}

    @property
    def looseness(self) -> float:
        """By how much the promise is larger than what any federation can reach."""
        promise, reached = float(self.promise), float(self.worst.enclosure[0])
        # A descent that is promised is smaller than the one there is.
        return reached / promise if promise < 0 else promise / reached

    def rows(self) -> list[dict[str, str]]:
        """Return promise, enclosure, looseness and what constants cost as rows of a table."""
        lower, upper = map(float, self.worst.enclosure)
        known = {"promise": float(self.promise), "worst case, at least": lower, "worst case, at most": upper}
        known |= {"looseness": self.looseness}
        for name, charge in self.charges.items():
            known |= {
                f"promise's charge for {name}": float(charge.promise),
                f"multiplier of {name}": float(charge.worst),
            }
        return [{"what": what, "value": f"{value:.10g}"} for what, value in known.items()]


Way = Callable[[Bound, Mapping[str, Any]], Confrontation]
"""From a bound and its arguments to promise and worst case."""


def as_fractions(sizes: Array) -> list[Fraction]:
    """Return a statement's step sizes, which are floats, as the numbers that they are."""
    return [*map(Fraction, sizes.tolist())]


def demand_0(given: Mapping[str, Any], *names: str, of: str) -> None:
    """Refuse constants of a bound with which nothing is known of its worst case."""
    numbers = [given.get(name, 0) for name in names]
    if any(numbers):
        message = f"{' and '.join(names)} must be 0 for the worst case of {of}, got {' and '.join(map(str, numbers))}"
        raise ValueError(message)


def worst_problem(p: Problem, given: Setting, error: str) -> WorstCase:
    """Enclose the value of a problem that no door offers; it has no instance."""

    def no_instance(_: Embedding) -> Instance:
        message = f"worst cases of a lemma's {error} are programs without a federation to train, and have no instance"
        raise ValueError(message)

    return worst_of([(p, no_instance)], given, error)
