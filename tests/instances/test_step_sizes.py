"""Step sizes in rationals equal those that the theorems print."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fedtheory.instances.federations import RationalQuadratics
from fedtheory.instances.step_sizes import decaying, delayed, fixed_step, short_steps, weighted_steps
from fedtheory.instances.vectors import vector

# mu = 1/2, L = 3
FED = RationalQuadratics((vector("1/2"), vector(3)), (vector(1), vector(-1)), vector("1/2", "1/2"), vector(0, 0))


@pytest.mark.parametrize(
    ("step_sizes", "number", "fifth"),
    [
        (decaying, 2, Fraction(1) / (Fraction(1, 2) * (5 + 24))),  # gamma = 4 * 3 / (1/2)
        (weighted_steps, 2, Fraction(2) / (Fraction(1, 2) * (5 + 144))),  # gamma = 4 * 2 * (1 + 2) * 3 / (1/2)
        (delayed(), 2, Fraction(2) / (Fraction(1, 2) * (5 + 48))),  # gamma = max(8 * 3 / (1/2), E)
        (delayed(), 60, Fraction(2) / (Fraction(1, 2) * (5 + 60))),
    ],
)
def test_steps_that_fall_are_those_of_the_theorem(step_sizes: Any, number: int, fifth: Fraction) -> None:
    assert step_sizes(FED, number)(5) == fifth


@pytest.mark.parametrize("draw", [fixed_step, short_steps])
def test_drawn_steps_are_quarters_of_the_longest_that_one_step_inequalities_allow(draw: Any) -> None:
    rng = np.random.default_rng(3)
    runs = [[size(step) for step in range(8)] for size in (draw(rng)(FED, 1) for _ in range(20))]
    assert {12 * size for sizes in runs for size in sizes} == {Fraction(n, 4) for n in (1, 2, 3, 4)}
    assert all(len(set(sizes)) == 1 for sizes in runs) == (draw is fixed_step)
