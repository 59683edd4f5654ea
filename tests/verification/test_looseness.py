"""Tightening sharpens inequalities of both directions only; the least refuted factor is on a grid."""

from fractions import Fraction

import numpy as np
import pytest

from fedtheory.theorem.claims import Claim, claim
from fedtheory.theorem.findings import Finding, at_least, at_most
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


def drawn(rng: np.random.Generator) -> Finding:
    """Measure up to 9/10 of the bound."""
    return at_most(Fraction(int(rng.integers(1, 10)), 10), Fraction(1))


def test_the_least_refuted_factor_is_the_next_on_the_ladder() -> None:
    toy = claim("toy:remark", "a toy", SOURCE)(drawn)
    assert least_refuted_factor(toy, 100) == 1.2  # 10/9 lies between 1.1 and 1.2
    below = LADDER[LADDER.index(1.2) - 1]
    assert hunt(tightened(toy, 1.2), evaluations=100).worst.holds is False
    assert hunt(tightened(toy, below), evaluations=100).worst.holds is True
