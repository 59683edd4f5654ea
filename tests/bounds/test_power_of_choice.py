"""Theorems 3.1 and A.1 of Power-of-Choice, printed, corrected and refined: laws of their formulas."""

# mypy: allow-untyped-calls

from fractions import Fraction as Q

import numpy as np
import pytest
import sympy
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


def start_and_floor(arguments):
    """Return what is left of the start after all steps, and what the refined bound settles at.

    After one step it has gone ``eta mu (1 + 3 rho / 8)`` of the way.
    """
    left = poc.refined_fixed_step_gap.terms(**arguments, strict=False)["vanishing"]
    terms = poc.refined_fixed_step_gap.terms(**{**arguments, "num_steps": 1}, strict=False)
    share = arguments["step_size"] * arguments["mu"] * (8 + 3 * arguments["rho_diagonal"]) / 8
    return left, (terms["step floor"] + terms["bias"]) / share


@settings(max_examples=30)
@given(world=worlds(), factor=rationals(1, 3))
def test_the_larger_the_skew_the_less_is_left_of_the_start_and_the_lower_the_refined_fixed_step_bound_settles(
    world, factor
):
    arguments = pick(poc.refined_fixed_step_gap, world)
    left, floor = start_and_floor(arguments)
    more_left, higher = start_and_floor({**arguments, "rho_diagonal": arguments["rho_diagonal"] / factor})
    assert more_left >= left
    assert higher >= floor


def test_over_a_short_horizon_the_refined_fixed_step_bound_may_rise_with_the_skew():
    """One step from the minimizer of like clients: all that is left is the drift, and a smaller skew promises less."""
    common = {
        "num_steps": 1, "step_size": Q(1, 10), "mu": Q(1, 4), "L": Q(1, 4), "local_steps": 2, "num_selected": 1,
        "G2": 1, "sigma2": 0, "objective_gap": 0, "rho_tilde": Q(1, 20), "initial_distance2": 0,
    }  # fmt: skip
    # L/2 eta^2 (67/32 + (3/4) rho)
    assert poc.refined_fixed_step_gap(**common, rho_diagonal=Q(1, 20)) == Q(1, 800) * (Q(67, 32) + Q(3, 80))
    assert poc.refined_fixed_step_gap(**common, rho_diagonal=Q(1, 40)) == Q(1, 800) * (Q(67, 32) + Q(3, 160))


@pytest.mark.parametrize("bound", DECAYING, ids=by_form)
@settings(max_examples=30)
@given(world=worlds(), later=st.integers(1, 1000))
def test_decaying_bounds_fall_with_the_horizon(bound, world, later):
    arguments = pick(bound, world)
    assert bound(**{**arguments, "num_steps": world["num_steps"] + later}) <= bound(**arguments)


@pytest.mark.parametrize("bound", THEOREMS, ids=by_form)
def test_an_array_of_horizons_gives_the_array_of_bounds(bound):
    arguments = {n: float(v) if isinstance(v, Q) else v for n, v in pick(bound, WORLD).items()}
    horizons = np.array([0, 1, 10, 1000])
    together = bound(**{**arguments, "num_steps": horizons})
    # The power of an array and of a scalar may differ in the last bit, and 1 - x^T amplifies nothing here.
    np.testing.assert_allclose(
        together, [bound(**{**arguments, "num_steps": int(T)}) for T in horizons], rtol=1e-14, atol=0
    )


def test_constants_may_be_arrays_too():
    arguments = {n: float(v) if isinstance(v, Q) else v for n, v in pick(poc.decaying_steps_gap, WORLD).items()}
    skews = np.array([0.5, 1.0, 1.5])
    together = poc.decaying_steps_gap(**{**arguments, "rho_diagonal": skews})
    assert together.tolist() == [poc.decaying_steps_gap(**{**arguments, "rho_diagonal": float(r)}) for r in skews]


@pytest.mark.parametrize("bound", DECAYING, ids=by_form)
def test_the_limit_of_decaying_steps_is_the_bias(bound):
    expression = bound.symbolic()
    horizon = next(symbol for symbol in expression.free_symbols if symbol.name == "num_steps")
    L, mu, rho, more = (
        WORLD["L"],
        WORLD["mu"],
        WORLD["rho_bar"],
        WORLD["rho_tilde"],
    )
    biases = {"printed": (more / rho - 1) / 3, "corrected": (more - rho) / (8 + 3 * rho)}
    bias = 8 * L * WORLD["objective_gap"] / mu * biases.get(bound.statement.form, biases["corrected"])
    exact = {symbol: sympy.Rational(WORLD[symbol.name]) for symbol in expression.free_symbols if symbol != horizon}
    assert sympy.limit(expression.subs(exact), horizon, sympy.oo) == sympy.Rational(bias)


@pytest.mark.parametrize("bound", FIXED, ids=by_form)
def test_the_limit_of_a_fixed_step_is_its_floor_and_bias(bound):
    # The fixed point of Delta = (1 - eta mu B) Delta + eta^2 C + eta D is (eta C + D)/(mu B), with B = 1 + 3 rho/8.
    w = {**WORLD, "sigma2": Q(0)}
    drift = {
        "printed": 32 * 16 * w["G2"],
        "corrected": 32 * 16 * w["G2"],
        "refined": (Q(67, 32) * 9 + Q(3, 4) * w["rho_bar"] * 3) * w["G2"],
    }[bound.statement.form]
    C = drift + 6 * w["rho_bar"] * w["L"] * w["objective_gap"]
    D = 2 * w["objective_gap"] * (w["rho_tilde"] - w["rho_bar"])
    limit = w["L"] / 2 * (w["step_size"] * C + D) / (w["mu"] * (1 + 3 * w["rho_bar"] / 8))
    far = bound(**{**pick(bound, w), "num_steps": 20_000, "step_size": 1 / 16.0})
    assert far == pytest.approx(float(limit), rel=1e-12)


@pytest.mark.parametrize("bound", DECAYING, ids=by_form)
def test_without_bias_the_slope_in_log_log_is_minus_one(bound):
    arguments = {n: float(v) if isinstance(v, Q) else v for n, v in pick(bound, WORLD).items()}
    arguments["rho_tilde"] = 1.5
    horizons = np.array([10**7, 10**8, 10**9])
    values = bound(**{**arguments, "num_steps": horizons})
    slope = np.polyfit(np.log(horizons), np.log(values), 1)[0]
    # d log 1/(T + gamma) / d log T = -1 + gamma/(T + gamma), with gamma = 24 and T >= 1e7.
    assert slope == pytest.approx(-1, abs=24e-7)


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


@pytest.mark.parametrize("bound", THEOREMS, ids=by_form)
def test_unbiased_selection_has_no_bias(bound):
    unbiased = {**WORLD, "rho_bar": Q(1), "rho_diagonal": Q(1), "rho_tilde": Q(1)}
    assert bound.terms(**pick(bound, unbiased))["bias"] == 0


@pytest.mark.parametrize("bound", THEOREMS, ids=by_form)
def test_identical_clients_have_no_bias_whatever_rho_tilde(bound):
    homogeneous = {**WORLD, "objective_gap": Q(0), "rho_tilde": Q(1000)}
    assert bound.terms(**pick(bound, homogeneous))["bias"] == 0


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


def test_printed_eq_7_at_unit_constants():
    # mu = L = m = tau = rho = 1, gamma = 4, T = 2: [4 (32 * 9 + 6)/3 + 8 * 2 + 4 * 5/2]/6 + (8 * 2/3)(2 - 1)
    #   = (392 + 16 + 10)/6 + 16/3 = 75.
    value = poc.decaying_steps_gap.printed(
        2,
        mu=Q(1),
        L=Q(1),
        local_steps=1,
        num_selected=1,
        G2=Q(9),
        sigma2=Q(6),
        objective_gap=Q(2),
        rho_bar=Q(1),
        rho_tilde=Q(2),
        initial_distance2=Q(5),
    )
    assert value == 75


def test_eq_8_as_printed_accepts_skew_zero():
    # x = 1 - 1/32, C = 32 * 16 * 17 + 5/2, D = 2 * 2 * (9/4); L/mu = 6, and the fixed point is (C/16 + D)/2.
    C, D = 32 * 16 * 17 + Q(5, 2), Q(9)
    floor = (C / 16 + D) / 2
    value = poc.fixed_step_gap.printed(**{**pick(poc.fixed_step_gap.printed, WORLD), "rho_bar": Q(0), "num_steps": 2})
    assert value == 6 * Q(31, 32) ** 2 * (9 - floor) + 6 * floor
