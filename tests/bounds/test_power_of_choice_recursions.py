"""Power-of-Choice: closed forms solve the recursions of their proofs, and a recursion is what its proof gives."""

# mypy: allow-untyped-calls

import itertools
from fractions import Fraction as Q

import numpy as np
import pytest

from fedtheory.bounds import power_of_choice as poc
from tests.bounds.worlds import WORLD, pick

STEP = WORLD | {"distance2": Q(13), "excess": Q(4), "step_size": Q(1, 40), "elapsed_step_size": Q(3, 40)}
CENTERED = {"initial_distance2": Q(0)}


def constants_of_the_paper(w, noise):
    """B, C and D of eq. (65), ``Delta_{t+1} = (1 - eta mu B) Delta_t + eta^2 C + eta D``, written from the paper."""
    rho, gap = w["rho_diagonal"], w["objective_gap"]
    C = 32 * w["local_steps"] ** 2 * w["G2"] + noise * w["sigma2"] + 6 * rho * w["L"] * gap
    return 1 + Q(3, 8) * rho, C, 2 * gap * (w["rho_tilde"] - rho)


def check_falling_steps(bound, world, m, gamma, noise, horizons, rel):
    """Compare with the recursion for steps ``m/(mu (t + gamma))``: above it, and equal to it far out."""
    B, C, D = map(float, constants_of_the_paper(world, noise))
    mu, L, distance2 = (float(world[name]) for name in ("mu", "L", "initial_distance2"))
    gaps = []
    for t in range(horizons[-1] + 1):
        gaps += [L / 2 * distance2] * (t in horizons)
        eta = m / (mu * (t + float(gamma)))
        distance2 = (1 - eta * mu * B) * distance2 + eta**2 * C + eta * D
    doubles = {name: float(value) if isinstance(value, Q) else value for name, value in world.items()}
    values, _ = bound(**{**pick(bound, doubles), "num_steps": np.array(horizons)}, strict=False)
    assert np.all(values >= np.array(gaps) * (1 - 1e-12))
    bias = L / 2 * D / (mu * B)
    assert values[-1] - bias == pytest.approx(gaps[-1] - bias, rel=rel)


# A world for each part of the steady state: drift, noise, heterogeneity.
@pytest.mark.parametrize(
    "change", [{}, {"G2": Q(1, 100), "sigma2": Q(5000)}, {"G2": Q(0), "sigma2": Q(0), "objective_gap": Q(50)}]
)
def test_the_closed_form_of_theorem_31_is_above_its_recursion_and_equal_to_it_in_the_limit(change):
    w = WORLD | change
    # The recursion starts below its steady part, by at most 1.25 times it, and catches up like T^-(B - 1):
    # 1.25 (gamma/30000)^(9/16) = 2.3 %.
    known = {"m": 1, "gamma": 4 * w["L"] / w["mu"], "noise": Q(1, w["num_selected"])}
    check_falling_steps(poc.decaying_steps_gap, w, **known, horizons=[0, 1, 10, 100, 1000, 10_000, 30_000], rel=0.025)


@pytest.mark.parametrize(
    "change", [{}, {"G2": Q(0), "sigma2": Q(900)}, {"G2": Q(0), "sigma2": Q(0), "num_selected": 3}]
)
def test_the_repaired_closed_form_of_equation_85_is_above_its_recursion_and_equal_to_it_in_the_limit(change):
    w = WORLD | CENTERED | change
    m = w["num_selected"]
    # The transient decays like T^-(m B), faster than the steady part by (gamma/40000)^(m B - 1) < 1e-4.
    known = {"m": m, "gamma": 4 * m * (1 + m) * w["L"] / w["mu"], "noise": w["squared_weights"]}
    check_falling_steps(poc.weighted_average_gap, w, **known, horizons=[0, 1, 10, 100, 1000, 40_000], rel=1e-3)


def test_the_closed_form_for_a_fixed_step_is_its_recursion():
    B, C, D = constants_of_the_paper(WORLD, Q(1, WORLD["num_selected"]))
    eta, distance2 = WORLD["step_size"], 2 / WORLD["mu"] * WORLD["initial_gap"]
    for T in range(6):
        known = {**pick(poc.fixed_step_gap, WORLD), "num_steps": T}
        assert poc.fixed_step_gap(**known) == WORLD["L"] / 2 * distance2
        distance2 = (1 - eta * WORLD["mu"] * B) * distance2 + eta**2 * C + eta * D


def test_the_recursion_is_what_its_proof_gives():
    """Step 5 of the proof is an equality if the round starts at the distance G/mu and moves straight away by s G."""
    L, sigma2, gap, rho_tilde, m = Q(3), Q(5), Q(2), Q(4), 3
    constants = {"L": L, "sigma2": sigma2, "objective_gap": gap, "rho_tilde": rho_tilde, "num_selected": m}
    for G, s, eta, mu, rho in itertools.product(
        (Q(2), Q(5)), (Q(0), Q(1, 7)), (Q(1, 12), Q(1, 20)), (Q(1), Q(3)), (Q(0), Q(1))
    ):
        start2, now2 = (G / mu) ** 2, (G / mu + s * G) ** 2
        moved = (1 - eta * mu) * now2 - Q(3, 8) * eta * mu * rho * start2 + 2 * s**2 * G**2
        proof = moved + eta**2 * (sigma2 / m + 6 * rho * L * gap) + 2 * eta * gap * (rho_tilde - rho)
        # At this distance the bound on gradients leaves no room for the noise and the gap, which are only summed here.
        known = constants | {"step_size": eta, "elapsed_step_size": s, "mu": mu, "G2": G**2, "rho_diagonal": rho}
        assert poc.one_step(now2, strict=False, **known)[0] == proof


def test_a_plain_mean_is_the_weighted_average_with_squares_one_over_m():
    weighted = {**pick(poc.weighted_one_step, STEP), "squared_weights": Q(1, 2)}
    assert poc.weighted_one_step(**weighted) == poc.one_step(**pick(poc.one_step, STEP))


def test_averaged_distance_is_the_mean_over_the_last_axis():
    assert poc.averaged_distance(np.array([[1.0, 3.0], [5.0, 7.0]])).tolist() == [2.0, 6.0]
    assert poc.averaged_distance(Q(3)) == 3
    assert poc.averaged_distance([Q(1, 3), 2]) == Q(7, 6)
