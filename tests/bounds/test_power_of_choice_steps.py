"""The lemmas and one-step recursions of Power-of-Choice against their proofs, and wrong constants."""

# mypy: allow-untyped-calls

import itertools
from fractions import Fraction as Q

import numpy as np
import pytest

from fedtheory.bounds import power_of_choice as poc
from tests.bounds.worlds import WORLD, mutated, pick

STEP = WORLD | {"distance2": Q(13), "excess": Q(4), "step_size": Q(1, 40), "elapsed_step_size": Q(3, 40)}


def test_averaged_distance_is_the_mean_over_the_last_axis():
    assert poc.averaged_distance(np.array([[1.0, 3.0], [5.0, 7.0]])).tolist() == [2.0, 6.0]
    assert poc.averaged_distance(Q(3)) == 3
    assert poc.averaged_distance([Q(1, 3), 2]) == Q(7, 6)


# The worst case of the proof: step 5 is an equality of numbers once the distance at the round's start is as large as
# strong convexity allows, G/mu, and the average has moved straight away from w* by s G.


def check_proof(one_step):
    for G, s, eta, mu, rho in itertools.product(
        (Q(2), Q(5)), (Q(0), Q(1, 7)), (Q(1, 12), Q(1, 20)), (Q(1), Q(3)), (Q(0), Q(1))
    ):
        start2, now2 = (G / mu) ** 2, (G / mu + s * G) ** 2
        L, sigma2, gap, rho_tilde, m = Q(3), Q(5), Q(2), Q(4), 3
        proof = (
            (1 - eta * mu) * now2
            - Q(3, 8) * eta * mu * rho * start2
            + 2 * s**2 * G**2
            + eta**2 * (sigma2 / m + 6 * rho * L * gap)
            + 2 * eta * gap * (rho_tilde - rho)
        )
        # At this distance the bound on gradients leaves no room for the noise and the gap, which are only summed here.
        value, _ = one_step(
            now2,
            strict=False,
            step_size=eta,
            elapsed_step_size=s,
            mu=mu,
            L=L,
            num_selected=m,
            G2=G**2,
            sigma2=sigma2,
            objective_gap=gap,
            rho_diagonal=rho,
            rho_tilde=rho_tilde,
        )
        assert value == proof


def test_the_recursion_is_what_its_proof_gives():
    check_proof(poc.one_step)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("2 * s**2 +", "s**2 +"),
        ("3 * eta * rho * s / 4", "3 * eta * rho * s / 8"),
        ("3 * eta * mu * rho * s**2 / 8", "0"),
        ("step_size**2 * sigma2 / num_selected", "step_size**2 * sigma2"),
        ("6 * rho_diagonal * L", "rho_diagonal * L"),
        ("(rho_tilde - rho_diagonal)", "(rho_diagonal - rho_diagonal)"),
        ("1 + 3 * rho_diagonal / 8", "1 + 8 * rho_diagonal / 3"),
    ],
)
def test_a_wrong_constant_in_the_recursion_is_caught(old, new):
    mutant = mutated("power_of_choice.recursions", old, new)
    with pytest.raises(AssertionError):
        check_proof(mutant.one_step)


def test_a_plain_mean_is_the_weighted_average_with_squares_one_over_m():
    arguments = pick(poc.one_step, STEP)
    weighted = {**pick(poc.weighted_one_step, STEP), "squared_weights": Q(1, 2)}
    assert poc.weighted_one_step(**weighted) == poc.one_step(**arguments)
