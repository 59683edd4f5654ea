"""Finite probability laws with exact expectations."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, TypeVar, final

from fedtheory._support import validate
from fedtheory._support.wording import truncate

__all__ = ["Law"]

T = TypeVar("T")
S = TypeVar("S")

_ROUNDING = 1e-12
"""Tolerance of the sum of rounded probabilities, as everywhere in the package."""
_SHOWN = 4


@final
class Law(Mapping[T, Any]):
    """A probability measure on finitely many outcomes: an immutable mapping from outcome to probability.

    Parameters
    ----------
    outcomes
        Mapping from outcome to probability, or pairs (outcome, probability). The probabilities of equal outcomes are
        added, and impossible outcomes removed. Integers and Fractions are exact, floats are rounded numbers.

    Raises
    ------
    ValueError
        If a probability is negative, or their sum is not 1 (exactly for rationals, to 1e-12 for floats).

    Examples
    --------
    Draw from an urn with one red and two blue balls, and then from the remaining balls:

    >>> urn = Law({"red": Fraction(1, 3), "blue": Fraction(2, 3)})
    >>> urn.then(lambda first: Law.certain("blue") if first == "red" else Law.uniform(["red", "blue"]))
    Law({'blue': 2/3, 'red': 1/3})
    """

    __slots__ = ("_probabilities",)

    def __init__(self, outcomes: Mapping[T, Any] | Iterable[tuple[T, Any]]) -> None:
        pairs = outcomes.items() if isinstance(outcomes, Mapping) else _pairs(outcomes)
        self._probabilities: Mapping[T, Any] = _added_up((outcome, _number(p)) for outcome, p in pairs)
        exact = all(isinstance(p, Fraction) for p in self.values())
        mass = sum(self.values()) if exact else math.fsum(self.values())
        if not abs(mass - 1) <= (0 if exact else _ROUNDING):
            message = f"probabilities must sum to 1, got {mass}"
            raise ValueError(message)

    @classmethod
    def _of(cls, pairs: Iterable[tuple[Any, Any]]) -> Law[Any]:
        """Make a law from transformed laws, whose probabilities already sum to 1."""
        law = cls.__new__(cls)
        law._probabilities = _added_up(pairs)
        return law

    @staticmethod
    def certain(outcome: S) -> Law[S]:
        """Return the law of a certain outcome."""
        return Law._of([(outcome, Fraction(1))])

    @staticmethod
    def proportional(weights: Mapping[S, Any]) -> Law[S]:
        """Return the law with probabilities proportional to non-negative weights."""
        validate.instance("weights", weights, Mapping, "a mapping from outcome to weight")
        total = sum(map(_number, weights.values()), start=Fraction(0))
        if not total:
            message = f"weights must have a positive sum, got {list(weights.values())}"
            raise ValueError(message)
        return Law._of((outcome, weight / total) for outcome, weight in weights.items())

    @staticmethod
    def uniform(options: Iterable[S]) -> Law[S]:
        """Return the law of a uniform draw from the options; an option that is listed twice is twice as likely."""
        return Law.proportional(Counter(validate.instance("options", options, Iterable, "a sequence of outcomes")))

    @staticmethod
    def product(*laws: Law[S]) -> Law[tuple[S, ...]]:
        """Return the joint law of independent outcomes, one of each law."""
        joint = itertools.product(*(validate.instance("laws", law, Law, "laws").items() for law in laws))
        return Law._of(
            (tuple(outcome for outcome, _ in draws), math.prod((p for _, p in draws), start=Fraction(1)))
            for draws in joint
        )

    def __pow__(self, times: int) -> Law[tuple[T, ...]]:
        """Return the joint law of independent repetitions."""
        return Law.product(*[self] * validate.count("times", times, 0))

    def then(self, kernel: Callable[[T], Law[S]]) -> Law[S]:
        """Return the law of what is drawn from ``kernel(outcome)``, over all outcomes."""
        validate.function("kernel", kernel, "an outcome")
        return Law._of((following, p * q) for outcome, p in self.items() for following, q in _next(kernel, outcome))

    def map(self, function: Callable[[T], S]) -> Law[S]:
        """Return the law of a function of the outcome."""
        validate.function("function", function, "an outcome")
        return Law._of((function(outcome), p) for outcome, p in self.items())

    def mean(self, value: Callable[[T], Any]) -> Any:
        """Return the expectation of a function of the outcome."""
        validate.function("value", value, "an outcome")
        return sum(p * value(outcome) for outcome, p in self.items())

    def __getitem__(self, outcome: T) -> Any:
        """Return the probability of a possible outcome; ``law.get(outcome, 0)`` accepts all outcomes."""
        return self._probabilities[outcome]

    def __iter__(self) -> Iterator[T]:
        return iter(self._probabilities)

    def __len__(self) -> int:
        return len(self._probabilities)

    def items(self) -> ItemsView[T, Any]:
        """Return the pairs (outcome, probability)."""
        return self._probabilities.items()

    def __hash__(self) -> int:
        return hash(frozenset(self.items()))

    def __repr__(self) -> str:
        shown = [f"{outcome!r}: {p}" for outcome, p in itertools.islice(self.items(), _SHOWN)]
        more = [f"... {len(self)} outcomes"] if len(self) > _SHOWN else []
        return f"Law({{{', '.join(shown + more)}}})"


def _pairs(outcomes: Any) -> Iterator[tuple[Any, Any]]:
    wanted = "outcomes must be a mapping, or pairs (outcome, probability)"
    if isinstance(outcomes, str) or not isinstance(outcomes, Iterable):
        message = f"{wanted}, got {truncate(outcomes)} of type {type(outcomes).__name__}"
        raise TypeError(message)
    for pair in outcomes:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            message = f"{wanted}, got {truncate(pair)} among them"
            raise TypeError(message)
        yield pair[0], pair[1]


def _next(kernel: Callable[[T], Law[S]], outcome: T) -> ItemsView[S, Any]:
    return validate.instance("kernel(outcome)", kernel(outcome), Law, "a Law").items()  # type: ignore[no-any-return]


def _added_up(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    total: dict[Any, Any] = {}
    for outcome, probability in pairs:
        if probability:
            size = len(total)  # one dictionary access, since hashing a rational takes longer than a sum
            known = total.setdefault(outcome, probability)
            if len(total) == size:
                total[outcome] = known + probability
    return total


def _number(probability: Any) -> Any:
    try:
        fits = bool(probability >= 0)
    except (TypeError, ValueError) as error:
        message = f"probabilities must be real numbers, got {truncate(probability)}, a {type(probability).__name__}"
        raise TypeError(message) from error
    if not fits:
        message = f"probabilities must be at least 0, got {truncate(probability)}"
        raise ValueError(message)
    return Fraction(probability) if isinstance(probability, int) else probability
