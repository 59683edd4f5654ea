"""Correct code passes: random checks have a false-alarm rate of 1e-6 per call, and other checks none."""

from typing import Any

import pytest

from tests.conformance.right import RIGHT, Right
from tests.environment import thinned


def title(right: Any) -> str:
    return f"{right.subject.__name__}-{'-'.join(right.options) or 'alone'}"


@pytest.mark.parametrize("right", RIGHT, ids=title)
def test_right_code_passes(right: Right) -> None:
    found = right.check(right.subject, **right.options, **right.cheaper)
    assert found.holds, found
    assert repr(found).endswith(f"passes {len(found.checks)} checks")


@pytest.mark.slow  # a call takes up to a second, and it takes many to see a rate; 1,000 seeds were run once
@pytest.mark.parametrize("seed", thinned(range(1, 6), 3))
@pytest.mark.parametrize("right", RIGHT, ids=title)
def test_right_code_passes_whatever_the_seed(right: Right, seed: int) -> None:
    found = right.check(right.subject, rng=seed, **right.options, **right.cheaper)
    assert found.holds, found
