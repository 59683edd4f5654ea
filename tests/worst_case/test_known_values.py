"""What is known of a worst case: a number only where both sides are proved and near each other."""

from dataclasses import replace
from fractions import Fraction as Q
from typing import Any

import pytest

from fedtheory.errors import OracleError
from fedtheory.worst_case import Problem
from fedtheory.worst_case.worst_cases import WorstCase

CLASS: dict[str, Any] = {"mu": Q(1, 10), "L": 1}


def started(**of: Any) -> tuple[Problem, Any, Any, Any]:
    """Return a problem with a function, its minimizer, and a point at a distance of at most 1."""
    p = Problem()
    f = p.function(**(of or CLASS))
    best, x = f.minimizer(), p.point("x")
    p.at_most((x - best).square, 1, name="distance2")
    return p, f, best, x


@pytest.fixture(scope="module")
def step() -> WorstCase:
    p, f, best, x = started()
    p.maximize((x - f.gradient(x) - best).square)
    return p.solve()


def test_a_value_is_a_number_if_both_sides_are_near_each_other(step: WorstCase) -> None:
    assert step.value == pytest.approx(0.81, rel=1e-6)
    for upper in (Q(2), Q(-2)):
        near = replace(step, lower=upper - abs(upper) * Q(9, 10**5), upper=upper)
        assert near.value == pytest.approx(float(upper), rel=1e-4)
    assert replace(step, lower=Q(0), upper=Q(0)).value == 0


@pytest.mark.parametrize(
    ("lower", "upper"), [(Q(9998, 10**4), Q(1)), (Q(0), Q(1, 10**30)), (Q(-1, 10**30), Q(0)), (Q(-1), Q(1))]
)
def test_a_value_whose_sides_are_apart_is_not_known(step: WorstCase, lower: Q, upper: Q) -> None:
    apart = replace(step, lower=lower, upper=upper)
    with pytest.raises(OracleError, match=r"relative distance of 0.0001, got lower=.*, upper="):
        _ = apart.value
    assert (apart.lower, apart.upper) == (lower, upper)


def test_a_value_with_one_side_is_not_known(step: WorstCase) -> None:
    for side in ("lower", "upper"):
        alone = replace(step, **{side: None})
        with pytest.raises(OracleError, match=f"both sides of a worst case must be proved, got .*{side}=None"):
            _ = alone.value
        assert f"{side}=None" in repr(alone)


def test_the_deciding_case_of_negative_values_is_the_largest(step: WorstCase) -> None:
    [case] = step.cases
    low, high = (replace(case, proof=replace(case.proof, lower=-v, upper=-v)) for v in (Q(5), Q(3)))
    empty = replace(case, proof=replace(case.proof, lower=None, upper=None))
    assert replace(step, cases=(low, empty, high)).deciding is high
