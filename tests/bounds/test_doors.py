"""Bounds reject invalid numbers in one sentence, and round extreme ones to the safe side."""

# mypy: allow-untyped-calls

import math
import warnings
from fractions import Fraction as Q
from typing import Any

import numpy as np
import pytest

from fedtheory.bounds import average_drift as ad
from fedtheory.bounds import fedalign as fa
from fedtheory.bounds import fedavg as li
from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.bounds import power_of_choice as poc
from fedtheory.errors import AssumptionViolated
from fedtheory.theorem.bound import Bound
from tests.bounds.test_digits import FORMS, by_name, draw, has_roots

EXTREMES = [
    1e300,
    1.7e308,
    1e-300,
    5e-324,
    2**53 + 1,
    10**19,
    10**400,
    Q(10**400),
    Q(1, 10**400),
    np.array([1e300, 1.0]),
]
NO_NUMBERS = {
    "text": "1",
    "nothing": None,
    "a boolean": True,
    "a complex number": 1j,
    "NaN": math.nan,
    "infinity": math.inf,
    "below zero": -(10**5000),
    "NaN in an array": np.array([1.0, np.nan]),
    "texts": np.array(["1"]),
    "booleans": np.array([True]),
    "a masked array": np.ma.array([1.0, 2.0], mask=[False, True]),
    "ragged rows": [[1.0], [1.0, 2.0]],
}


def is_one_sentence(error, *names):
    text = str(error)
    return "\n" not in text and len(text) < 300 and all(name in text for name in names)


def is_an_answer(result):
    if isinstance(result, Exception):
        return is_one_sentence(result)
    return isinstance(result, Q) or not np.any(np.isnan(result))


def attempts(bound, world):
    for attempt in (bound, bound.terms, lambda **given: bound(**given, strict=False)[0]):
        try:
            result = attempt(**world)
        except (ValueError, TypeError) as error:
            yield error
        else:
            yield from (result.values() if isinstance(result, dict) else [result])


@pytest.mark.slow
@by_name(FORMS)
def test_extremes_give_one_sentence_or_a_value_and_never_nan(bound):
    world = draw(bound, np.random.default_rng(23))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in bound.domains:
            for extreme in EXTREMES:
                assert all(map(is_an_answer, attempts(bound, {**world, name: extreme}))), (name, extreme)


@by_name(FORMS)
def test_several_extremes_at_once_give_one_sentence_or_a_value_and_never_nan(bound):
    rng = np.random.default_rng(27)
    world, scalars = draw(bound, rng), EXTREMES[:-1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(30):
            extreme = {name: scalars[rng.integers(len(scalars))] for name in bound.domains if rng.random() < 0.5}
            assert all(map(is_an_answer, attempts(bound, {**world, **extreme}))), extreme


@by_name(FORMS)
def test_what_is_no_number_is_refused_by_name(bound):
    world = draw(bound, np.random.default_rng(24))
    for name, domain in bound.domains.items():
        for kind, bad in NO_NUMBERS.items():
            if kind == "below zero" and "real" in domain.assumptions:
                continue
            with pytest.raises((ValueError, TypeError)) as caught:
                bound(**{**world, name: bad}, strict=False)
            assert is_one_sentence(caught.value, name), (name, kind)


@by_name({name: form for name, form in FORMS.items() if any("integer" in d.assumptions for d in form.domains.values())})
def test_a_count_is_no_float_and_no_list(bound):
    world = draw(bound, np.random.default_rng(25))
    for name in (name for name, domain in bound.domains.items() if "integer" in domain.assumptions):
        for bad in (2.0, Q(2), [2, 3], np.array([2.0]), True, -1):
            with pytest.raises((ValueError, TypeError)) as caught:
                bound(**{**world, name: bad})
            assert is_one_sentence(caught.value, name), (name, bad)


def test_series_of_pandas_count_as_their_values_in_order_whatever_their_labels():
    pandas = pytest.importorskip("pandas")
    known = {"mu": [1.0, 2.0], "L": [8.0, 4.0], "objective_gap": [1.0, 0.5], "local_steps": [2, 3]}
    arrays = {name: np.array(values) for name, values in known.items()}
    series = {name: pandas.Series(values, index=["a", "b"]) for name, values in known.items()}
    series["L"] = series["L"].set_axis(["b", "a"])
    wanted, found = (li.one_round(1.0, step_size=0.1, **each) for each in (arrays, series))
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, wanted)


def test_arrays_that_do_not_go_together_are_refused_with_their_shapes():
    pair, three = np.array([1.0, 2.0]), np.array([1.0, 2.0, 3.0])
    with pytest.raises(
        ValueError, match=r"Lemma B.1 needs arrays that can be broadcast, got excess of shape \(2,\), L of shape \(3,\)"
    ):
        poc.gradient_norm(pair, L=three)
    with pytest.raises(
        ValueError, match=r"num_steps must be a single number in a call with a sequence, got an array of shape \(2,\)"
    ):
        fa.recursion_gap(np.array([1, 2]), **RECURSION)
    with pytest.raises(
        ValueError, match=r"mu must be a single number in a call with a sequence, got an array of shape \(2,\)"
    ):
        fa.recursion_gap(1, **{**RECURSION, "mu": np.array([1.0, 2.0])})


def test_a_pair_of_constants_in_the_wrong_order_is_named_where_it_is():
    with pytest.raises(ValueError, match=r"L must be at least mu, got L=2\.0 and mu=3\.0$"):
        ocs.full_participation(1.0, **{**FULL, "mu": np.array([1.0, 3.0]), "L": 2.0})


RECURSION = {
    "mu": 1.0,
    "L": 2.0,
    "local_steps": 1,
    "G2": 1.0,
    "sigma2": 1.0,
    "objective_gap": 1.0,
    "initial_distance2": 1.0,
    "priority_weights": [1.0, 0.5],
    "included_gaps": [0.0, 0.5],
}
FULL = {"step_size": 0.1, "mu": 1.0, "L": 2.0, "sum_squared_weights": 0.5, "sigma2": 4.0}


WEIGHTED = {
    "step_size": 1e-9,
    "mu": 1.0,
    "L": 1.0,
    "G2": 7.0,
    "sigma2": 3.0,
    "objective_gap": 0.5,
    "rho_bar": 0.5,
    "rho_tilde": 0.5,
}


def test_a_million_clients_in_an_array_do_not_wrap():
    together = poc.weighted_one_step.printed(2.0, local_steps=np.array([3]), num_selected=np.array([10**6]), **WEIGHTED)
    alone = poc.weighted_one_step.printed(2.0, local_steps=3, num_selected=10**6, **WEIGHTED)
    assert together == [pytest.approx(alone, rel=1e-15)]
    # 32 m^2 (m - 1) G2 eta^2 tau^2 = 32 10^18 7 9 10^-18, and the rest is below 3.
    assert 2016 < alone < 2019


def test_half_a_billion_local_steps_in_an_array_do_not_wrap():
    world = {name: value for name, value in WEIGHTED.items() if name not in ("rho_bar", "step_size")}
    world |= {"rho_diagonal": 0.5, "num_selected": 2, "initial_distance2": 1.0, "step_size": 1 / 4}
    together = poc.refined_fixed_step_gap(5, local_steps=np.array([5 * 10**8, 3]), **world)
    alone = [poc.refined_fixed_step_gap(5, local_steps=tau, **world) for tau in (5 * 10**8, 3)]
    np.testing.assert_allclose(together, alone, rtol=1e-15)
    assert together[0] > 1e17


def test_hypotheses_do_not_wrap_either():
    world = {name: value for name, value in WEIGHTED.items() if name not in ("rho_bar", "step_size")}
    world |= {"rho_diagonal": 0.5, "num_selected": 2, "initial_gap": 1.0, "step_size": 1 / 4}
    # 67 (tau - 1)^2 wraps at tau = 5e8, the hypothesis holds for every tau when rho_diagonal is at most 167.
    assert poc.fixed_step_gap(5, local_steps=np.array([5 * 10**8]), **world) > 0
    assert poc.fixed_step_gap(5, local_steps=5 * 10**80, **world) > 0


@pytest.mark.parametrize("number", [Q(2, 5), Q(2, 3)])
@by_name({name: form for name, form in FORMS.items() if form is not poc.averaged_distance})
def test_rationals_stay_rationals_with_whole_numbers_among_them(bound, number):
    world = draw(bound, np.random.default_rng(26))
    world |= {name: 1 + value % 7 for name, value in world.items() if isinstance(value, int)} | {"num_clients": 9}
    world = {name: value for name, value in world.items() if name in bound.domains}
    numbers = {name: value for name, value in world.items() if not isinstance(value, int)}
    exact = {name: [Q(1, 3)] * 7 if isinstance(value, list) else number for name, value in numbers.items()}
    # L and mu as whole numbers: their quotient must not become a float on the way.
    exact |= {name: value for name, value in {"L": 7, "mu": 3}.items() if name in world}
    value, _ = bound(**{**world, **exact}, strict=False)
    if bound in (poc.averaged_rounds_gap, li.fixed_step_distance, ad.fixed_step_distance) and number == Q(2, 3):
        # 1 - mu eta = -1 and an even number of steps: nothing is gone, and the formula divides by that.
        assert value == math.inf
        return
    if "negative_curvature" in world:
        # Both curvatures of a proximal problem are one number here: nothing holds an answer.
        assert value == math.inf
        return
    assert isinstance(value, Q) or has_roots(bound)
    doubles = {name: [1 / 3] * 7 if isinstance(number, list) else float(number) for name, number in exact.items()}
    # Where nothing is gone, as above, a drift is the square of what rounding leaves of it.
    assert bound(**{**world, **doubles}, strict=False)[0] == pytest.approx(float(value), rel=1e-12, abs=1e-30)


def test_whole_numbers_alone_are_floats_without_a_point():
    value = ocs.full_participation(8, **{**FULL, "step_size": 1, "L": 1, "sum_squared_weights": 1, "sigma2": 4})
    assert (value, type(value)) == (4.0, float)


LEMMA_21 = {"distance2": 4.0, "displacement2": 1.0, "mu": 1.0, "L": 1.0}


def test_the_lower_bounds_are_the_ones_that_say_so():
    lower = {name for name, form in FORMS.items() if (form.__doc__ or "").startswith("Lower bound")}
    assert lower == {name for name, form in FORMS.items() if form.statement.side == "lower"}
    assert lower == {"optimal_client_sampling.perturbed_inner_product", "power_of_choice.loss_after_step"}


@pytest.mark.parametrize(
    "change",
    [{"displacement2": 1e300, "L": 1e300}, {"distance2": 1e300, "mu": 1e300, "L": 1e300, "displacement2": 1e300}],
)
def test_a_lower_bound_that_overflows_says_nothing_by_minus_infinity(change):
    assert ocs.perturbed_inner_product(2.0, **{**LEMMA_21, **change}) == -math.inf
    several = ocs.perturbed_inner_product(np.array([2.0, 2.0]), **{**LEMMA_21, **change})
    np.testing.assert_array_equal(several, [-math.inf, -math.inf])


def test_an_upper_bound_that_overflows_says_nothing_by_infinity():
    huge = {**FULL, "sigma2": 1e308, "step_size": 0.5, "sum_squared_weights": 1e308}
    assert ocs.full_participation(1.0, **huge) == math.inf
    assert ocs.full_participation.terms(1.0, **huge) == {"contraction": 0.5, "noise": math.inf}
    # contraction overflows downward, noise upward: nothing is known
    loose, _ = ocs.full_participation(1e308, **{**huge, "step_size": 1e200}, strict=False)
    assert loose == math.inf


def test_a_lower_bound_whose_digits_cancel_is_rounded_down():
    # mu distance2/4 = L displacement2: the difference is that of two rounded products.
    value = ocs.perturbed_inner_product(0.0, distance2=0.4, displacement2=0.1, mu=0.3, L=0.3)
    assert Q(value) <= Q(0.3) * Q(0.4) / 4 - Q(0.3) * Q(0.1) < Q(value) + Q(1, 10**15)


@pytest.mark.parametrize(
    ("bound", "change", "message"),
    [
        ("fedavg", {"step_size": 0.2 / 3}, r"step_size <= 1/\(8 L \(2 \+ M/R\)\): got 0\.06667 > 0\.0625$"),
        ("fedavg", {"gamma": 0.25, "step_size": 0.05}, r"got 0\.05 > 0\.03125$"),
        (
            "fedavg",
            {"server_step_size": 1.25, "sum_squared_weights": 0.5, "max_weight": 0.5},
            r"gamma/sum_squared_weights: got 1\.562 < 2\.0$",
        ),
        ("dsgd", {"step_size": 0.7}, r"\(18\).*: got 0\.7 > 0\.5$"),
        ("dsgd", {"mean_inverse_gamma": 0.5}, r"mean_inverse_gamma >= 1 .*: got 0\.5 < 1$"),
        ("dsgd", {"mean_inverse_gamma": 3.0}, r"mean_inverse_gamma <= 1/smallest_gamma: got 3\.0 > 2\.0$"),
        ("full", {"step_size": 0.6}, r"step_size <= 1/L: got 0\.6 > 0\.5$"),
        ("fedalign", {"step_size": 0.15}, r"step_size <= 1/\(4 L\): got 0\.15 > 0\.125$"),
        ("fedalign", {"step_size": 0.1250001}, r"got 0\.1250001 > 0\.125$"),
    ],
)
def test_refusals_print_the_numbers_that_were_given_against_their_limits(bound, change, message):
    form, world = REFUSALS[bound]
    with pytest.raises(AssumptionViolated, match=message):
        form(1.0 if "distance2" in form.domains else 1, **{**world, **change})


WEIGHTS = {"max_weight": 1.0, "sum_squared_weights": 1.0, "relative_noise": 0.0, "sigma2": 4.0, "objective_gap": 1.0}
REFUSALS: dict[str, tuple[Bound, dict[str, Any]]] = {
    "fedavg": (
        ocs.fedavg_strongly_convex,
        {
            "gap": 1.0,
            "step_size": 0.01,
            "server_step_size": 2.0,
            "local_steps": 2,
            "mu": 0.5,
            "L": 1.0,
            "gamma": 1.0,
            **WEIGHTS,
        },
    ),
    "dsgd": (
        ocs.dsgd_contraction,
        {"step_size": 0.1, "mu": 0.5, "L": 1.0, "smallest_gamma": 0.5, "mean_inverse_gamma": 2.0, **WEIGHTS},
    ),
    "full": (ocs.full_participation, FULL),
    "fedalign": (
        fa.one_step,
        {
            "mu": 1.0,
            "L": 2.0,
            "local_steps": 1,
            "G2": 9.0,
            "sigma2": 1.0,
            "objective_gap": 1.0,
            "priority_weight": 1.0,
            "included_gap": 0.0,
        },
    ),
}


def test_a_limit_that_rounding_made_is_met_in_doubles_and_exact_in_rationals():
    form, world = REFUSALS["fedalign"]
    L = 3.0
    assert form(1.0, **{**world, "L": L, "step_size": float(np.nextafter(1 / (4 * L), 1))}) > 0
    exact = {name: Q(value) if isinstance(value, float) else value for name, value in world.items()}
    with pytest.raises(AssumptionViolated, match=r"got 0\.125"):
        form(Q(1), **{**exact, "step_size": Q(1, 8) + Q(1, 10**17)})


def test_a_tiny_skew_makes_the_weighted_bound_of_one_client_finite():
    world = {name: value for name, value in WEIGHTED.items() if name not in ("rho_bar", "step_size")}
    world |= {"local_steps": 1, "num_selected": 1, "initial_distance2": 1.0}
    value = poc.weighted_average_gap(1, rho_diagonal=1e-20, **world)
    assert math.isfinite(value)
    with pytest.raises(AssumptionViolated, match=r"num_selected .*: got 0\.0 <= 0$"):
        poc.weighted_average_gap(1, rho_diagonal=0.0, **world)


def test_skews_in_an_array_count_as_one_at_least_in_what_constants_imply():
    known = {"mu": 1.0, "L": 4.0, "local_steps": 2, "num_selected": 3, "sigma2": 1.0, "rho_tilde": 2.0}
    start = {"objective_gap": 0.5, "initial_distance2": 25.0}
    # Gradients at the start: 2 mu max(rho, 1) (mu distance2/2 + Gamma) is 26 max(rho, 1).
    found = poc.decaying_steps_gap(9, rho_diagonal=np.array([0.8, 1.0]), G2=27.0, **known, **start)
    assert found[0] > found[1]
    with pytest.raises(AssumptionViolated, match="G2"):
        poc.decaying_steps_gap(9, rho_diagonal=np.array([1.0, 1.2]), G2=27.0, **known, **start)
