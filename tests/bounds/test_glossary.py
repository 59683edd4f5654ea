"""The glossary: every theorem is homogeneous in its units."""

from dataclasses import replace
from fractions import Fraction as Q
from types import SimpleNamespace
from typing import Any

import pytest

from fedtheory.theorem.symbols import CURVATURE, GRADIENT2, LENGTH
from tests.bounds.test_digits import FORMS, by_name

# Powers of the loss and of the squared distance.
POWERS: dict[str, tuple[Any, Any]] = {
    "": (0, 0), "local steps": (0, 0), "rounds": (0, 0), "loss": (1, 0), "distance^2": (0, 1),
    "distance": (0, Q(1, 2)), CURVATURE: (1, -1), LENGTH: (-1, 1), GRADIENT2: (2, -1),
}  # fmt: skip
LOSS, DISTANCE2 = Q(2), Q(3)


def scale(unit):
    """By how much a number grows when losses double and squared distances are three times as large."""
    of_loss, of_distance2 = POWERS[unit]
    return LOSS**of_loss * DISTANCE2**of_distance2


def world(bound):
    """Return arguments without any relation, which no summand makes zero."""
    numbers = {name: Q(7 + i, 11 + 5 * i) for i, name in enumerate(bound.domains)} | {"mu": Q(1, 3), "L": Q(5, 2)}
    counts = {"num_clients": 7, "num_selected": 3, "local_steps": 4, "num_steps": 5, "num_rounds": 2, "num_draws": 3}
    return {
        name: (numbers[name],) * 5 if domain.is_sequence or name == "distances2" else (numbers | counts)[name]
        for name, domain in bound.domains.items()
    }


def scaled(bound, given):
    """Return the same in other units."""
    return {
        name: tuple(one * scale(symbol.unit) for one in given[name])
        if isinstance(given[name], tuple)
        else given[name] * (1 if isinstance(given[name], int) else scale(symbol.unit))
        for name, symbol in bound.symbols.items()
    }


def growth(bound, given):
    """By how much the summands grow with the units, the same for all if the units are right."""
    before, after = (bound.terms(**known, strict=False) for known in (given, scaled(bound, given)))
    # Roots are rounded.
    return {Q(after[name] / before[name]).limit_denominator(10**9) for name in before if before[name]}


@by_name(FORMS)
def test_every_summand_of_a_bound_has_the_same_unit(bound):
    factors = growth(bound, world(bound))
    assert len(factors) == 1
    assert factors <= {scale(unit) for unit in POWERS}


@pytest.mark.parametrize("name", ["mu", "L", "step_size", "G2", "sigma2", "objective_gap", "distance2"])
def test_a_wrong_unit_is_seen(name):
    bound = FORMS["power_of_choice.one_step"]
    symbols = {**bound.symbols, name: replace(bound.symbols[name], unit="")}
    wrong = SimpleNamespace(domains=bound.domains, symbols=symbols, terms=bound.terms)
    assert len(growth(wrong, world(bound))) > 1
