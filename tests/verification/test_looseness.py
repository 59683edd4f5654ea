"""Tightening sharpens inequalities of both directions only."""

from fractions import Fraction

import numpy as np
import pytest

from fedtheory.theorem.claims import Claim, claim
from fedtheory.theorem.findings import Finding, at_least, at_most
from fedtheory.theorem.paper import Paper, Statement
from tests.claims.tightening import tightened

SOURCE = Statement(Paper("toy", "A toy", "Somebody", 2025), "Remark")


def showing(finding: Finding) -> Claim:
    return claim("toy:remark", "a toy", SOURCE)(lambda _: finding)


def verdict(finding: Finding, factor: float) -> bool | None:
    return tightened(showing(finding), factor).check(np.random.default_rng(0)).holds


@pytest.mark.parametrize("side", [1, 1.0, Fraction(1)])
def test_upper_and_lower_bounds_become_sharper(side: float) -> None:
    for finding in (at_most(side, 2 * side), at_least(2 * side, side)):
        assert [verdict(finding, factor) for factor in (1.5, 2.0, 2.01)] == [True, True, False]
