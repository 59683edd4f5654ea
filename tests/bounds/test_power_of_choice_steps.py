"""The lemmas and one-step recursions of Power-of-Choice against small runs that are computed exactly."""

# mypy: allow-untyped-calls

import itertools
from fractions import Fraction as Q

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.bounds import power_of_choice as poc
from tests.bounds.worlds import WORLD, by_form, mutated, pick

STEPS = [poc.one_step, poc.one_step.printed, poc.weighted_one_step, poc.weighted_one_step.printed]
LEMMAS = [poc.gradient_norm, poc.client_drift, poc.client_drift.printed]
STEP = WORLD | {"distance2": Q(13), "excess": Q(4), "step_size": Q(1, 40), "elapsed_step_size": Q(3, 40)}


@pytest.mark.parametrize("bound", STEPS + LEMMAS, ids=by_form)
@settings(max_examples=25)
@given(factor=st.fractions(1, 3, max_denominator=10), data=st.data())
def test_steps_and_lemmas_rise_with_each_constant(bound, factor, data):
    falling = ("mu", "rho_diagonal", "rho_bar", "num_selected")
    rising = [name for name in pick(bound, STEP) if name not in (*falling, "step_size")]
    name = data.draw(st.sampled_from(rising))
    moved = STEP[name] + 1 if isinstance(STEP[name], int) else STEP[name] * factor
    assert bound(**{**pick(bound, STEP), name: moved}, strict=False)[0] >= bound(**pick(bound, STEP))


def test_averaged_distance_is_the_mean_over_the_last_axis():
    assert poc.averaged_distance(np.array([[1.0, 3.0], [5.0, 7.0]])).tolist() == [2.0, 6.0]
    assert poc.averaged_distance(Q(3)) == 3
    exact = poc.averaged_distance([Q(1, 3), 2])
    assert (exact, type(exact)) == (Q(7, 6), Q)
    expression = poc.averaged_distance.symbolic()
    assert str(expression) == "Sum(distances2[k], (k, 1, num_selected))/num_selected"
    with pytest.raises(ValueError, match="distances2"):
        poc.averaged_distance([1.0, -1.0])


@settings(max_examples=50)
@given(st.lists(st.floats(-100, 100), min_size=1, max_size=6), st.floats(-100, 100))
def test_the_average_is_no_further_than_its_parts(models, center):
    distance2 = (np.mean(models) - center) ** 2
    bound = poc.averaged_distance([(w - center) ** 2 for w in models])
    # Rounding of a mean of numbers up to 100, squared.
    assert distance2 <= bound + 1e-9


@settings(max_examples=50)
@given(st.fractions(Q(1, 10), 10), st.fractions(1, 10), st.fractions(-10, 10))
def test_the_gradient_bound_is_attained_by_the_stiffest_quadratic_only(h, factor, w):
    gradient2, excess = (h * w) ** 2, h * w**2 / 2
    assert poc.gradient_norm(excess, L=h) == gradient2
    assert poc.gradient_norm(excess, L=factor * h) >= gradient2


def test_refined_drift_vanishes_for_one_local_step_and_is_a_quarter_of_the_printed_one_in_the_limit():
    assert poc.client_drift(Q(1, 3), local_steps=1, G2=Q(5)) == 0
    many = {"local_steps": 10**6, "G2": Q(5)}
    ratio = poc.client_drift(Q(1, 3), **many) / poc.client_drift.printed(Q(1, 3), **many)
    assert ratio == Q(999_999, 2_000_000) ** 2


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


def test_the_recursion_equals_the_truth_for_one_quadratic_and_one_local_step_up_to_the_skew_part():
    # F = w^2/2 is the only client: eta <= 1/4 gives w_1 = (1 - eta) w, hence (1 - eta)^2 <= 1 - eta (1 + 3/8).
    for eta in (Q(1, 4), Q(1, 8), Q(1, 100)):
        arguments = {"step_size": eta, "elapsed_step_size": Q(0), "mu": Q(1), "L": Q(1), "num_selected": 1}
        nothing = {"G2": Q(0), "sigma2": Q(0), "objective_gap": Q(0), "rho_diagonal": Q(1), "rho_tilde": Q(1)}
        bound = poc.one_step(Q(1), **arguments, **nothing)
        assert (1 - eta) ** 2 <= bound
        # eta (2 - eta) against 11/8 eta: the bound loses at most 5/8 eta.
        assert bound - (1 - eta) ** 2 <= Q(5, 8) * eta


def test_a_plain_mean_is_the_weighted_average_with_squares_one_over_m():
    arguments = pick(poc.one_step, STEP)
    weighted = {**pick(poc.weighted_one_step, STEP), "squared_weights": Q(1, 2)}
    assert poc.weighted_one_step(**weighted) == poc.one_step(**arguments)


def test_weighted_forms_bound_the_weighted_mean_of_gradients():
    for bound in (poc.weighted_one_step, poc.weighted_average_gap, poc.derived_weighted_average_gap):
        texts = [hypothesis.text for hypothesis in bound.hypotheses]
        assert any(text.startswith("E sum_k q_k |g_k|^2 <= G2") for text in texts)
        assert any(text.startswith("a round's selection depends on the past only through") for text in texts)


def test_printed_forms_that_do_not_divide_by_the_skew_accept_zero():
    zero = {"rho_bar": Q(0), "rho_tilde": Q(2)}
    # (64)-(65): 13 (1 - 1/80) + (32 * 16 * 17 + 5/2)/1600 + 2 (1/40) 2 * 2.
    value = poc.one_step.printed(**{**pick(poc.one_step.printed, STEP), **zero})
    assert value == Q(13 * 79, 80) + (Q(32 * 16 * 17) + Q(5, 2)) / 1600 + Q(1, 5)
    # (81), m = 2: 13 (1 - 1/160) + (32 * 4 * 16 * 17 + 10)/1600 + 1/5.
    value = poc.weighted_one_step.printed(**{**pick(poc.weighted_one_step.printed, STEP), **zero})
    assert value == Q(13 * 159, 160) + Q(32 * 4 * 16 * 17 + 10, 1600) + Q(1, 5)
    for bound in (poc.one_step.printed, poc.weighted_one_step.printed, poc.client_drift.printed):
        assert any("halve" in hypothesis.text for hypothesis in bound.hypotheses)
