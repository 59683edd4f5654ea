"""Tightening sharpens inequalities of both directions only; the least refuted factor is on a grid."""

import math
from fractions import Fraction

import numpy as np
import pytest

from fedtheory.theorem.claims import Claim, claim
from fedtheory.theorem.findings import Finding, at_least, at_most, equal_to, not_applicable
from fedtheory.theorem.paper import Paper, Statement
from fedtheory.verification.hunts import hunt
from tests.claims.tightening import LADDER, least_refuted_factor, tightened

SOURCE = Statement(Paper("toy", "A toy", "Somebody", 2025), "Remark")


def showing(finding: Finding) -> Claim:
    return claim("toy:remark", "a toy", SOURCE)(lambda _: finding)


def verdict(finding: Finding, factor: float) -> bool | None:
    return tightened(showing(finding), factor).check(np.random.default_rng(0)).holds


@pytest.mark.parametrize("side", [1, 1.0, Fraction(1)])
def test_upper_and_lower_bounds_become_sharper(side: float) -> None:
    for finding in (at_most(side, 2 * side), at_least(2 * side, side)):
        assert [verdict(finding, factor) for factor in (1.5, 2.0, 2.01)] == [True, True, False]


def test_what_is_no_inequality_stays() -> None:
    unmet = not_applicable("far away")
    assert verdict(equal_to(1, 1), 100.0) is True
    assert tightened(showing(unmet), 2.0).check(np.random.default_rng(0)) is unmet
    assert verdict(at_most(1.0, math.inf), 2.0) is None


def test_the_instance_is_kept() -> None:
    sharper = tightened(showing(at_most(1, 2, instance={"w": 3})), 1.5).check(np.random.default_rng(0))
    assert (sharper.instance, sharper.measured, sharper.predicted) == ({"w": 3}, 1, Fraction(4, 3))


def drawn(rng: np.random.Generator) -> Finding:
    """Measure up to 9/10 of the bound."""
    return at_most(Fraction(int(rng.integers(1, 10)), 10), Fraction(1))


def test_the_least_refuted_factor_is_the_next_on_the_ladder() -> None:
    toy = claim("toy:remark", "a toy", SOURCE)(drawn)
    assert least_refuted_factor(toy, 100) == 1.2  # 10/9 lies between 1.1 and 1.2
    below = LADDER[LADDER.index(1.2) - 1]
    assert hunt(tightened(toy, 1.2), evaluations=100).worst.holds is False
    assert hunt(tightened(toy, below), evaluations=100).worst.holds is True


def test_what_a_thousandth_of_the_bound_would_do_has_no_factor() -> None:
    assert least_refuted_factor(showing(at_most(1, 10**6))) is None


@pytest.mark.parametrize("factor", [1.0, 0.5, math.nan])
def test_a_looseness_that_makes_nothing_sharper_is_refused(factor: float) -> None:
    with pytest.raises(ValueError, match=r"^\S+:\S+: looseness must be greater than 1, got"):
        claim("toy:remark", "a toy", SOURCE, looseness=factor)(drawn)
