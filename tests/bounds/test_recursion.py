"""Unrolled recursions: the affine shortcut against step-by-step evaluation, and steps that are refused."""

# mypy: allow-untyped-calls

from typing import Any

import numpy as np
import pytest

from fedtheory._support.validate import finite
from fedtheory.bounds import power_of_choice as poc
from fedtheory.bounds.recursion import elapsed_step_sizes, unroll
from fedtheory.errors import AssumptionViolated
from fedtheory.theorem.bound import states
from fedtheory.theorem.domains import Domain
from fedtheory.theorem.paper import Paper

CONSTANTS: dict[str, Any] = {"mu": 0.5, "L": 3.0, "num_selected": 2, "G2": 17.0, "sigma2": 5.0, "objective_gap": 2.0}
REPAIRED: dict[str, Any] = {**CONSTANTS, "rho_diagonal": 1.5, "rho_tilde": 2.25}


@pytest.mark.parametrize("local_steps", [1, 2, 3, 5, 40])
def test_unrolling_is_the_recursion_step_by_step(local_steps):
    sizes = np.random.default_rng(1).uniform(0.01, 1 / 12, size=23)
    bounds = unroll(poc.one_step, initial_distance2=11.0, step_sizes=sizes, local_steps=local_steps, **REPAIRED)
    distance2, elapsed, slow = 11.0, 0.0, [11.0]
    for t, eta in enumerate(sizes):
        elapsed = 0.0 if t % local_steps == 0 else elapsed
        distance2 = poc.one_step(distance2, step_size=float(eta), elapsed_step_size=elapsed, **REPAIRED)
        slow.append(distance2)
        elapsed += eta
    # The two roads add the same few positive terms in another order.
    np.testing.assert_allclose(bounds, slow, rtol=1e-13)
    assert bounds.shape == (24,)


def test_a_negative_slope_never_multiplies_an_upper_bound():
    # Gradient descent with steps 3/2 on parabolas of curvature 1 and 0: squared distances are 1/4 and 1 after each step
    # at most, and the recursion (1 - eta mu) Delta + 1, true for both, falls with Delta.
    @states(Paper("own", "Own", "Somebody", 2026), "Lemma", domains={"slope": Domain(finite, {"real": True})})
    def falling(distance2, *, step_size, slope):
        return {"contraction": (1 - step_size * slope) * distance2, "offset": 1 + 0 * step_size}

    bounds = unroll(falling, initial_distance2=3.0, step_sizes=[1.5, 1.5, 0.5], local_steps=1, slope=1.0)
    # Delta_1 <= max over [0, 3] of 1 - Delta/2 = 1, and again; then 1/2 + 1.
    assert bounds.tolist() == [3.0, 1.0, 1.0, 1.5]


def test_a_step_that_is_too_long_anywhere_is_refused():
    with pytest.raises(AssumptionViolated, match="step_size <= 1/\\(4 L\\)"):
        unroll(poc.one_step, initial_distance2=1.0, step_sizes=[0.05, 0.1], local_steps=2, **REPAIRED)


def test_elapsed_step_sizes_restart_with_every_round():
    sizes = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    assert elapsed_step_sizes(sizes, 3).tolist() == [0.0, 1.0, 3.0, 0.0, 8.0]
    assert elapsed_step_sizes(sizes, 1).tolist() == [0.0] * 5
    assert elapsed_step_sizes(sizes, 9).tolist() == [0.0, 1.0, 3.0, 7.0, 15.0]
    assert elapsed_step_sizes(sizes, 10**18).tolist() == [0.0, 1.0, 3.0, 7.0, 15.0]
