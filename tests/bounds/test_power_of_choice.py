"""Theorems 3.1 and A.1 of Power-of-Choice, printed, corrected and refined: laws of their formulas."""

# mypy: allow-untyped-calls

from fractions import Fraction as Q

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.bounds import power_of_choice as poc
from fedtheory.conformance import rationals
from fedtheory.theorem.scheme import Scheme
from tests.bounds.worlds import WORLD, by_form, pick

DECAYING = [poc.decaying_steps_gap, poc.decaying_steps_gap.printed, poc.refined_decaying_steps_gap]
FIXED = [poc.fixed_step_gap, poc.fixed_step_gap.printed, poc.refined_fixed_step_gap]
THEOREMS = DECAYING + FIXED
RISING = ("L", "local_steps", "G2", "sigma2", "objective_gap", "rho_tilde", "initial_distance2", "initial_gap")
FALLING = ("mu", "num_selected", "rho_diagonal", "rho_bar")


@st.composite
def worlds(draw):
    """Constants that satisfy every hypothesis of every theorem in this file, as exact rationals."""
    mu, kappa = draw(rationals(Q(1, 4), 4)), draw(rationals(1, 30))
    rho = draw(rationals(Q(1, 20), 1)) * kappa
    sigma2, gap, distance2, initial_gap = (draw(rationals(0, 50)) for _ in range(4))
    return {
        "num_steps": draw(st.integers(0, 300)),
        "mu": mu,
        "L": mu * kappa,
        "local_steps": draw(st.integers(1, 5)),
        "num_selected": draw(st.integers(1, 10)),
        "G2": sigma2 + max(1, rho) * mu * (mu * distance2 + 2 * gap + 2 * initial_gap) + draw(rationals(0, 50)),
        "sigma2": sigma2,
        "objective_gap": gap,
        "rho_diagonal": rho,
        "rho_bar": rho,
        "rho_tilde": rho * draw(rationals(1, 3)),
        "initial_distance2": distance2,
        "initial_gap": initial_gap,
        "step_size": draw(rationals(Q(1, 10), 1)) / (4 * mu * kappa),
    }


@pytest.mark.parametrize("bound", THEOREMS, ids=by_form)
@settings(max_examples=30)
@given(world=worlds(), factor=rationals(1, 3), data=st.data())
def test_bounds_rise_and_fall_with_each_constant(bound, world, factor, data):
    arguments = pick(bound, world)
    # The refined drift grows with the skew, which a short horizon does not make up for (see the next test).
    moving = RISING + tuple(name for name in FALLING if (bound, name) != (poc.refined_fixed_step_gap, "rho_diagonal"))
    name = data.draw(st.sampled_from([name for name in arguments if name in moving]))
    up = name in RISING
    if name in ("local_steps", "num_selected"):
        moved = arguments[name] + 1
    elif up:
        moved = arguments[name] * factor + factor - 1
    else:
        moved = arguments[name] / factor
    # Dividing the skew or mu raises the bound.
    up = up or name != "num_selected"
    before = bound(**arguments)
    after, _ = bound(**{**arguments, name: moved}, strict=False)
    assert after >= before if up else after <= before


@settings(max_examples=30)
@given(world=worlds())
def test_repaired_bounds_are_at_most_the_printed_ones_at_equal_skews(world):
    for bound in (poc.decaying_steps_gap, poc.refined_decaying_steps_gap):
        assert bound(**pick(bound, world)) <= bound.printed(**pick(bound.printed, world))
    # Eq. (8) is regrouped, not changed.
    fixed = poc.fixed_step_gap
    assert fixed(**pick(fixed, world)) == fixed.printed(**pick(fixed.printed, world))


@settings(max_examples=30)
@given(world=worlds())
def test_refined_bounds_are_at_most_the_repaired_ones(world):
    assert poc.refined_decaying_steps_gap(**pick(poc.refined_decaying_steps_gap, world)) <= poc.decaying_steps_gap(
        **pick(poc.decaying_steps_gap, world)
    )
    # F(w_0) - F* is at least mu/2 times the squared distance.
    gap = world["mu"] / 2 * world["initial_distance2"]
    assert poc.refined_fixed_step_gap(**pick(poc.refined_fixed_step_gap, world)) <= poc.fixed_step_gap(
        **{**pick(poc.fixed_step_gap, world), "initial_gap": gap}
    )


@pytest.mark.parametrize("bound", [poc.fixed_step_gap, poc.refined_fixed_step_gap], ids=by_form)
def test_the_repaired_fixed_step_bound_is_finite_at_skew_zero(bound):
    # 8 L Gamma rho_tilde / (8 mu) = 3 * 2 * (9/4) / (1/2) = 27, approached from below.
    bias = bound.terms(**{**pick(bound, WORLD), "rho_diagonal": Q(0), "num_steps": 2000, "step_size": 1 / 16.0})["bias"]
    assert bias == pytest.approx(27, rel=1e-12)


def test_a_division_by_skew_zero_is_infinite_and_never_nan():
    nothing = {"G2": 0.0, "sigma2": 0.0, "objective_gap": 0.0, "initial_distance2": 0.0}
    for arguments in ({}, nothing):
        for bound, skew in ((poc.decaying_steps_gap, "rho_diagonal"), (poc.decaying_steps_gap.printed, "rho_bar")):
            world = {**pick(bound, {**WORLD, **arguments}), skew: np.zeros(2)}
            value, unmet = bound(**world, strict=False)
            assert np.all(np.isposinf(np.asarray(value, dtype=float)))
            assert len(unmet) == 1


def test_the_theorems_speak_about_plain_means_only():
    for bound in THEOREMS:
        assert bound.statement.accepts(Scheme("power of choice", "mean"))
        assert not bound.statement.accepts(Scheme("uniform without replacement", "weighted"))


def test_decaying_step_sizes_meet_the_step_condition_exactly():
    for mu, L in ((0.1, 0.3), (1 / 3, 7.7), (1e-5, 1e5)):
        sizes = poc.decaying_step_sizes(50, mu=mu, L=L)
        assert sizes[0] == 1 / (4 * L)
        np.testing.assert_allclose(sizes, 1 / (mu * (np.arange(50) + 4 * L / mu)), rtol=1e-15)
    assert poc.decaying_step_sizes(0, mu=1.0, L=1.0).shape == (0,)
