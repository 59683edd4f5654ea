"""What claims about bounds and their certified worst cases share: draws of constants, sharp ones among them."""

from collections.abc import Callable
from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np

from fedtheory.errors import OracleError
from fedtheory.rational.draws import pick, whole
from fedtheory.theorem.paper import Bound
from fedtheory.verification.claims import Claim, claim
from fedtheory.verification.findings import Finding, at_most, not_applicable
from fedtheory.worst_case.promises import compared

__all__ = ["confronted", "curvatures", "draw_class", "in_words", "step_size", "tenths"]

Draw = Callable[[np.random.Generator], dict[str, Any]]
"""Arguments of a bound."""


def tenths(rng: np.random.Generator, low: int, high: int) -> Fraction:
    """Draw a whole number of tenths."""
    return Fraction(whole(rng, low, high), 10)


def curvatures(rng: np.random.Generator) -> dict[str, Any]:
    """Draw mu and L; L/mu is close to 1 in a quarter of the draws."""
    mu = tenths(rng, 1, 20)
    return {"mu": mu, "L": mu * pick(rng, [tenths(rng, 11, 13), *(tenths(rng, 12, 200) for _ in range(3))])}


def draw_class(rng: np.random.Generator) -> dict[str, Any]:
    """Draw the constants of a class."""
    return curvatures(rng) | {"distance2": tenths(rng, 1, 90), "objective_gap": tenths(rng, 1, 30)}


def step_size(rng: np.random.Generator, longest: Fraction) -> Fraction:
    """Draw a step size; in a third of the draws it is the longest."""
    share: Fraction = pick(rng, [Fraction(1), tenths(rng, 1, 9), tenths(rng, 1, 9)])
    return share * longest


def in_words(given: dict[str, Any]) -> dict[str, str]:
    """Return constants as texts that keep all digits."""
    return {name: str(value) for name, value in given.items()}


def confronted(
    key: str, title: str, bound: Bound, draw: Draw, *, looseness: float, remark: str = "", thorough: int = 100
) -> Claim:
    """Claim that a bound is at least the certified worst case of what it speaks about: no federation exceeds it."""

    def check(rng: np.random.Generator) -> Finding:
        given = draw(rng)
        try:
            found = compared(bound, given)
        except OracleError as error:
            return not_applicable(f"no worst case was proved: {error}", **in_words(given))
        promise = Fraction(found.promise) if isfinite(found.promise) else found.promise
        return at_most(found.worst.enclosure[0], promise, instance=in_words(given))

    return claim(key, title, bound, instances=(3, thorough), looseness=looseness, remark=remark)(check)
