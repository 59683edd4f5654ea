"""The closed forms of Theorems 3.1 and A.1 against the recursion of eq. (65), and effects of wrong constants."""

# mypy: allow-untyped-calls

from fractions import Fraction as Q

import numpy as np
import pytest

from fedtheory.bounds import power_of_choice as poc
from tests.bounds.worlds import WORLD, mutated, pick

# Eq. (65), written here from the paper: Delta_{t+1} = (1 - eta mu B) Delta_t + eta^2 C + eta D. For decaying steps the
# closed form dominates it and is asymptotically equal to it; for a fixed step it is the same number.


def constants_of_the_paper(w):
    B = 1 + Q(3, 8) * w["rho_diagonal"]
    C = (
        32 * w["local_steps"] ** 2 * w["G2"]
        + w["sigma2"] / w["num_selected"]
        + 6 * w["rho_diagonal"] * w["L"] * w["objective_gap"]
    )
    return B, C, 2 * w["objective_gap"] * (w["rho_tilde"] - w["rho_diagonal"])


def check_decaying(bound, world):
    w = {n: float(v) if isinstance(v, Q) else v for n, v in world.items()}
    B, C, D = (float(number) for number in constants_of_the_paper(world))
    gamma = 4 * w["L"] / w["mu"]
    distance2, horizons, gaps = w["initial_distance2"], [], []
    for t in range(30_001):
        if t in (0, 1, 10, 100, 1000, 10_000, 30_000):
            horizons.append(t)
            gaps.append(w["L"] / 2 * distance2)
        eta = 1 / (w["mu"] * (t + gamma))
        distance2 = (1 - eta * w["mu"] * B) * distance2 + eta**2 * C + eta * D
    bounds, _ = bound(**{**pick(bound, w), "num_steps": np.array(horizons)}, strict=False)
    assert np.all(bounds >= np.array(gaps) * (1 - 1e-12))
    bias = w["L"] / 2 * D / (w["mu"] * B)
    # The recursion starts below its steady part, by at most 1.25 times it, and catches up like T^-(B - 1):
    # 1.25 (gamma/30000)^(9/16) = 2.3 %. The mutants below are off by 20 % and more.
    assert bounds[-1] - bias == pytest.approx(gaps[-1] - bias, rel=0.025)


def check_decaying_everywhere(bound):
    # A world for each part of the steady state: drift, noise, heterogeneity.
    for change in ({}, {"G2": Q(1, 100), "sigma2": Q(5000)}, {"G2": Q(0), "sigma2": Q(0), "objective_gap": Q(50)}):
        check_decaying(bound, {**WORLD, **change})


def check_fixed(bound, world):
    B, C, D = constants_of_the_paper(world)
    eta = world["step_size"]
    distance2 = 2 / world["mu"] * world["initial_gap"]
    for T in range(6):
        assert bound(**{**pick(bound, world), "num_steps": T}) == world["L"] / 2 * distance2
        distance2 = (1 - eta * world["mu"] * B) * distance2 + eta**2 * C + eta * D


def test_the_decaying_closed_form_solves_the_printed_recursion():
    check_decaying_everywhere(poc.decaying_steps_gap)


def test_the_fixed_closed_form_solves_the_printed_recursion():
    check_fixed(poc.fixed_step_gap, WORLD)


DECAYING_MUTANTS = [
    ("variance = 32 * G2", "variance = 16 * G2"),
    ("4 * L * variance / (3 *", "4 * L * variance / (8 *"),
    ("(8 + 3 * rho)", "(3 + 8 * rho)"),
    ("local_steps**2 + sigma2 / num_selected", "local_steps**2 + sigma2"),
    ("8 * L**2 * objective_gap / mu**2", "4 * L**2 * objective_gap / mu**2"),
    ("local_steps**2", "local_steps"),
]
FIXED_MUTANTS = [
    ("32 * G2 * local_steps**2", "16 * G2 * local_steps**2"),
    ("6 * rho_diagonal * L", "3 * rho_diagonal * L"),
    ("(8 + 3 * rho_diagonal) / 8", "(3 + 8 * rho_diagonal) / 8"),
    ("sigma2 / num_selected", "sigma2"),
    ("return 4 * L * offset", "return 8 * L * offset"),
    ("contraction * L * initial_gap / mu", "contraction * initial_gap"),
]


@pytest.mark.parametrize(("old", "new"), DECAYING_MUTANTS)
def test_a_wrong_constant_in_the_decaying_bound_is_caught(old, new):
    mutant = mutated("power_of_choice.decaying_steps", old, new)
    with pytest.raises(AssertionError):
        check_decaying_everywhere(mutant.decaying_steps_gap)


@pytest.mark.parametrize(("old", "new"), FIXED_MUTANTS)
def test_a_wrong_constant_in_the_fixed_step_bound_is_caught(old, new):
    mutant = mutated("power_of_choice.fixed_step", old, new)
    with pytest.raises(AssertionError):
        check_fixed(mutant.fixed_step_gap, WORLD)
