"""The arguments of a bound for a run are those of the theorem, or the run is rejected in one sentence."""

import inspect
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.bounds import fedalign, fedavg
from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.bounds import power_of_choice as poc
from fedtheory.engine.heterogeneity import Stragglers
from fedtheory.errors import AssumptionViolated
from fedtheory.exact.runs import for_run
from fedtheory.selection import (
    ActiveFederated,
    AlternatingGroups,
    Available,
    BernoulliAvailability,
    Full,
    Independent,
    LossMatching,
    PowerOfChoice,
    Proportional,
    Uniform,
)
from fedtheory.theorem.assumptions import BoundedGradients, Hypothesis, Noise, Smooth
from fedtheory.theorem.bound import states
from fedtheory.theorem.domains import POSITIVE
from fedtheory.theorem.paper import Paper
from fedtheory.theorem.scheme import ANY_SCHEME, Scheme

# Curvatures 2 and 5 at (1, 0) and (-1, 2), weights 1/4 and 3/4: w* = (2/4 - 15/4, 30/4) / (17/4).
FED = ft.QuadraticFederation([2.0, 5.0], [[1.0, 0.0], [-1.0, 2.0]], [0.25, 0.75])
START = np.array([3.0, 1.0])
RUN = {"num_rounds": 7, "local_steps": 3, "initial": START}
EIGHT = ft.datasets.power_of_choice_quadratics(num_clients=8, rng=0)


def test_constants_of_the_federation_and_the_run_are_those_of_the_definitions():
    arguments = for_run(fedavg.with_replacement_gap, FED, Proportional(2), gradient_noise=3.0, **RUN)
    minimizer = np.array([2 / 4 - 15 / 4, 30 / 4]) / (17 / 4)
    gap = FED.loss(minimizer)  # every F_k* is 0
    np.testing.assert_allclose(arguments.pop("objective_gap"), gap, rtol=1e-13)
    np.testing.assert_allclose(arguments.pop("initial_distance2"), np.sum((START - minimizer) ** 2), rtol=1e-13)
    steps = fedavg.decaying_step_sizes(21, mu=2.0, L=5.0, local_steps=3)
    assert arguments.pop("G2") == ft.federation.gradient_bound(FED, START, steps, 3.0).G2
    # 3 (1/16 + 9/16)
    assert arguments == {
        "num_steps": 21, "mu": 2.0, "L": 5.0, "local_steps": 3, "num_selected": 2, "weighted_sigma2": 1.875
    }  # fmt: skip


def test_weights_counts_and_options_are_those_of_the_run():
    run = {**RUN, "step_size": 0.0002, "gradient_noise": 3.0, "relative_noise": 0.5, "server_step_size": 4.0}
    arguments = for_run(ocs.fedavg_contraction, FED, Independent(1.0), distance2=9.0, **run)
    assert arguments.pop("objective_gap") == FED.objective_gap
    # eta = R eta_l eta_g, as its module says: 3 * 0.0002 * 4
    assert arguments.pop("step_size") == pytest.approx(0.0024, rel=1e-15)
    assert arguments == {
        "distance2": 9.0, "server_step_size": 4.0, "local_steps": 3, "mu": 2.0, "L": 5.0,
        "smallest_gamma": 0.5, "mean_inverse_gamma": 2.0, "max_weight": 0.75, "sum_squared_weights": 0.625,
        "relative_noise": 0.5, "sigma2": 3.0,
    }  # fmt: skip


def test_all_clients_improve_upon_nothing_and_weigh_their_weights():
    arguments = for_run(poc.weighted_average_gap, FED, Full(), **RUN)
    assert (arguments["num_selected"], arguments["squared_weights"]) == (2, 0.625)
    assert for_run(poc.weighted_average_gap, EIGHT, Proportional(5), num_rounds=3)["squared_weights"] == 0.2
    run = {"num_rounds": 7, "step_size": 0.01}
    everybody = for_run(ocs.dsgd_contraction, FED, Full(), distance2=1.0, **run)
    assert (everybody["smallest_gamma"], everybody["mean_inverse_gamma"]) == (1.0, 1.0)
    with pytest.raises(AssumptionViolated, match=r"improvement of .* is unknown: give gamma="):
        for_run(ocs.dsgd_contraction, FED, Independent(1.0, "approximate"), distance2=1.0, **run)


def test_dissimilarity_of_clients_of_one_curvature_is_exact_and_of_others_unbounded():
    # Gradients at w are 2 (w - c_k): they differ from their mean by 2 (c_k - mean).
    fed = ft.QuadraticFederation([2.0, 2.0], [[1.0, 0.0], [-1.0, 2.0]], [0.25, 0.75])
    arguments = for_run(ocs.dsgd_average_gradient, fed, Full(), num_rounds=9, step_size=0.1, initial=START)
    mean = np.array([-0.5, 1.5])
    by_hand = 0.25 * 4 * np.sum((np.array([1.0, 0.0]) - mean) ** 2) + 0.75 * 4 * np.sum((np.array([-1, 2]) - mean) ** 2)
    np.testing.assert_allclose(arguments["dissimilarity"], by_hand, rtol=1e-13)
    np.testing.assert_allclose(arguments["initial_gap"], fed.loss(START) - fed.loss(mean), rtol=1e-12)
    assert arguments["num_rounds"] == 9
    with pytest.raises(AssumptionViolated, match="dissimilarity is unbounded"):
        for_run(ocs.dsgd_average_gradient, FED, Full(), num_rounds=9, step_size=0.1)


@pytest.mark.slow
def test_skews_are_taken_from_the_side_that_keeps_the_bound_true():
    strategy = PowerOfChoice(2, 4)
    skew = ft.exact.selection_skew(EIGHT, strategy, num_models=100)  # what the search sharpens is not asked for
    assert skew.rho_bar.lower < skew.rho_bar.upper
    corrected = for_run(poc.decaying_steps_gap, EIGHT, strategy, num_rounds=10)
    printed = for_run(poc.decaying_steps_gap.printed, EIGHT, strategy, num_rounds=10)
    assert (corrected["rho_diagonal"], corrected["rho_tilde"]) == (skew.rho_diagonal.lower, skew.rho_tilde.upper)
    assert (printed["rho_bar"], printed["rho_tilde"]) == (skew.rho_bar.lower, skew.rho_tilde.upper)


@pytest.mark.parametrize(
    ("bound", "strategy"),
    [
        (poc.decaying_steps_gap, Proportional(2)),
        (poc.refined_decaying_steps_gap, Uniform(2)),
        (poc.weighted_average_gap, Proportional(3)),
        (fedavg.with_replacement_gap, Proportional(2)),
        (fedavg.full_participation_gap, Full()),
        (fedavg.decaying_steps_gap, Proportional(2)),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_bound_of_a_run_is_above_its_exact_error_with_the_steps_that_it_prescribes(bound, strategy):
    run = {"num_rounds": 20, "local_steps": 2, "initial": np.ones(EIGHT.dim), "gradient_noise": 2.0}
    arguments = for_run(bound, EIGHT, strategy, **run)
    known = ("mu", "L", "local_steps", "num_selected")
    constants: dict[str, Any] = {name: arguments[name] for name in known if name in arguments}
    names = list(inspect.signature(bound.step_sizes).parameters)[1:]
    sizes = bound.step_sizes(40, **{name: constants[name] for name in names})
    exact = ft.exact.expected_gap(EIGHT, strategy, step_size=sizes, **run)[-1]
    assert 0 < exact < bound(**arguments)
    assert for_run(bound, EIGHT, strategy, step_size=sizes, **run) == arguments
    with pytest.raises(AssumptionViolated, match=r"prescribes the step size .* at step 0"):
        for_run(bound, EIGHT, strategy, step_size=sizes * 1.01, **run)
    last = np.where(np.arange(40) == 39, 0.9, 1.0) * sizes
    with pytest.raises(AssumptionViolated, match=r"prescribes the step size .* at step 39"):
        for_run(bound, EIGHT, strategy, step_size=last, **run)
    one = run | {"num_rounds": 1, "local_steps": 1}
    first = bound.step_sizes(1, **{name: (constants | {"local_steps": 1})[name] for name in names})
    assert for_run(bound, EIGHT, strategy, step_size=first, **one) == for_run(bound, EIGHT, strategy, **one)


def test_equal_weights_are_equal_although_rounding_may_have_made_them_differ_by_a_unit():
    tenth = np.full(10, 0.1) + np.where(np.arange(10) == 3, np.spacing(0.1), 0.0)
    for weights in (np.full(10, 0.1), tenth):
        fed = ft.QuadraticFederation(np.ones(10), np.arange(10.0)[:, None], weights)
        arguments = for_run(fedavg.without_replacement_gap, fed, Uniform(2), num_rounds=10)
        assert arguments["num_clients"] == 10
    apart = np.full(10, 0.1) + np.where(np.arange(10) == 3, 9e-12, -1e-12)
    fed = ft.QuadraticFederation(np.ones(10), np.arange(10.0)[:, None], apart)
    with pytest.raises(AssumptionViolated, match="all p_k are equal"):
        for_run(fedavg.without_replacement_gap, fed, Uniform(2), num_rounds=10)


def test_lemmas_about_no_steps_and_about_single_ones_take_fewer_options_for_granted():
    options = {"num_rounds": 2, "local_steps": 3, "server_step_size": 0.5}
    assert for_run(poc.gradient_norm, FED, Full(), **options, excess=2.0) == {"excess": 2.0, "L": 5.0}
    one = {"num_rounds": 2, "step_size": 0.01, "elapsed_step_size": 0.02, "distance2": 1.0, "G2": 1e5}
    assert for_run(poc.one_step, EIGHT, Proportional(2), local_steps=3, **one)["elapsed_step_size"] == 0.02
    with pytest.raises(AssumptionViolated, match=r"covers server_step_size = 1, got 0\.5"):
        for_run(poc.one_step, EIGHT, Proportional(2), **options | one)


PRIORITY = ft.federation.prioritize(EIGHT, (True,) * 5 + (False,) * 3)
ALIGNED = LossMatching(tuple(PRIORITY.priority), PRIORITY.shares)
WELLS = ft.federation.NonconvexFederation([1.5], [[1.0], [-1.0]], [0.5, 0.5])
SOFTMAX = ft.SoftmaxFederation(ft.datasets.synthetic(1.0, 1.0, num_clients=3, rng=0), 0.1)
SOMETIMES = Available(Uniform(2), BernoulliAvailability(0.5))
STEP = {"step_size": 0.001}
ONE_STEP = STEP | {"distance2": 1.0}
NOISY = {"step_size": 0.001, "local_steps": 2, "gradient_noise": 3.0}
CONSTANTS = {"mu": 0.1, "L": 4.0, "objective_gap": 1.0, "rho_diagonal": 0.5, "rho_tilde": 2.0, "initial_distance2": 1.0}
# Which bound refuses which run of three rounds, and the word of the reason that names what is wrong.
REFUSED: list[tuple[Any, Any, Any, dict[str, Any], str]] = [
    # selection and aggregation
    (poc.decaying_steps_gap, EIGHT, Uniform(2, "weighted"), {}, "aggregation 'weighted'"),
    (poc.weighted_average_gap.printed, EIGHT, Uniform(2, "weighted"), {}, "with sum 1 over every selection"),
    (fedavg.without_replacement_variance, EIGHT, Uniform(2, "weighted"), STEP, "with sum 1 over every selection"),
    (poc.decaying_steps_gap, EIGHT, ActiveFederated(2, (1,) * 8), {}, "with memory"),
    (poc.decaying_steps_gap, EIGHT, PowerOfChoice(2, 4, loss="last"), {}, "with memory"),
    (poc.decaying_steps_gap, EIGHT, Available(Uniform(2), AlternatingGroups()), {}, "with memory"),
    (poc.decaying_steps_gap, EIGHT, Available(Uniform(2), BernoulliAvailability(0.5), "allow"), {}, "if any"),
    (poc.decaying_steps_gap, EIGHT, SOMETIMES, {}, "skews are unknown"),
    (poc.decaying_steps_gap, EIGHT, PowerOfChoice(2, 4, loss="minibatch"), {}, "skews are unknown"),
    (fedavg.with_replacement_gap, EIGHT, Uniform(2), {}, "'multinomial'"),
    (fedavg.without_replacement_gap, EIGHT, Uniform(2), {}, "all p_k are equal"),
    (ocs.dsgd_contraction, EIGHT, Proportional(2), ONE_STEP, "'multinomial'"),
    (fedalign.partial_participation_gap, PRIORITY.federation, ALIGNED, {"num_draws": 4}, "drawn with replacement"),
    (fedalign.full_participation_gap, EIGHT, ALIGNED, {"theta": 1.0, "rho": 1.0}, "shares of the priority clients"),
    # options that the bound does not cover
    (ocs.dsgd_contraction, EIGHT, Full(), ONE_STEP | {"local_steps": 2}, "covers local_steps = "),
    (ocs.dsgd_contraction, EIGHT, Full(), ONE_STEP | {"server_step_size": 2.0}, "covers server_step_size = "),
    (poc.refined_fixed_step_gap, EIGHT, Proportional(2), NOISY | {"relative_noise": 0.5}, "covers relative_noise = "),
    (
        poc.loss_after_step,
        FED,
        Full(),
        {"step_size": 0.1, "excess": 1.0, "gradient_noise": 0.5},
        "covers gradient_noise",
    ),
    # noise, where gradients are exact: promised were 1.3e-24, and one client of two with noise 100 measured 3.7
    *(
        (bound, FED, Full(), ONE_STEP | {"gradient_noise": 100}, "gradients are exact")
        for bound in (fedavg.one_round, fedavg.gap_after_step)
    ),
    (fedavg.fixed_step_distance, FED, Full(), STEP | {"gradient_noise": 100}, "gradients are exact"),
    (poc.exact_client_drift, FED, Proportional(1), STEP | {"gradient_noise": 0.5}, "gradients are exact"),
    # hypotheses about numbers and functions, also where a constant is given
    (poc.fixed_step_gap, EIGHT, Proportional(2), {"step_size": 0.9 / EIGHT.smoothness}, r"step_size <= 1/\(4 L\)"),
    (poc.fixed_step_distance, WELLS, Proportional(1), CONSTANTS | STEP, "strong convexity"),
    (ocs.dsgd_nonconvex, FED, Full(), STEP | {"value": 1.0, "gradient2": 1.0, "dissimilarity": 10.0}, "unbounded"),
    # constants that contradict the run
    (poc.fixed_step_gap, EIGHT, Proportional(2), NOISY | {"num_steps": 1000}, "num_steps = 6 for this run"),
    (poc.fixed_step_gap, EIGHT, Proportional(2), NOISY | {"num_selected": 8}, "num_selected = 2 for this run"),
    (poc.fixed_step_gap, EIGHT, Proportional(2), NOISY | {"sigma2": 2.9}, "sigma2 >= "),
    (poc.fixed_step_gap, EIGHT, Proportional(2), NOISY | {"mu": 5.0}, "mu <= "),
    (poc.fixed_step_gap, EIGHT, Proportional(2), NOISY | {"L": 1.0}, "L >= "),
    (poc.fixed_step_gap, EIGHT, Proportional(2), NOISY | {"G2": 100.0}, "at the first model: got 100"),
    # constants that nothing determines
    (fedalign.full_participation_gap, PRIORITY.federation, ALIGNED, {}, "give theta="),
    (poc.decaying_steps_gap, EIGHT, Proportional(2), {"rho": 1.0}, "no argument rho"),
    (poc.fixed_step_gap, EIGHT, Proportional(2), {}, "one step_size for all steps"),
    (poc.fixed_step_gap, EIGHT, Proportional(2), {"step_size": [0.001, 0.002, 0.002]}, "one step_size for all steps"),
    (poc.decaying_steps_gap, EIGHT, object(), {}, "must have a scheme"),
    (fedavg.full_participation_gap, SOFTMAX, Full(), {"gradient_noise": 0.5}, "give G2="),
]


@pytest.mark.parametrize(("bound", "fed", "strategy", "settings", "reason"), REFUSED, ids=lambda value: "")
def test_a_run_that_a_theorem_does_not_cover_is_refused_with_the_reason(bound, fed, strategy, settings, reason):
    with pytest.raises((AssumptionViolated, TypeError, ValueError), match=reason):
        for_run(bound, fed, strategy, num_rounds=3, **settings)


def test_what_is_close_to_a_refused_run_is_covered():
    run = {"num_rounds": 3, "step_size": 0.001}
    equal = ft.QuadraticFederation(EIGHT.curvatures, EIGHT.centers, np.full(8, 0.125))
    for fed, strategy in ((equal, Uniform(2, "weighted")), (EIGHT, Uniform(2))):
        assert for_run(fedavg.without_replacement_variance, fed, strategy, **run)["num_selected"] == 2
    assert for_run(poc.client_drift, EIGHT, ActiveFederated(2, (1,) * 8), **run, local_steps=2)["local_steps"] == 2
    skews = {"rho_diagonal": 0.75, "rho_tilde": 1.5}
    found = for_run(poc.decaying_steps_gap, EIGHT, SOMETIMES, num_rounds=10, **skews)
    assert {name: found[name] for name in skews} == skews
    assert for_run(poc.fixed_step_gap, EIGHT, Proportional(2), **run, gradient_noise=3.0, sigma2=3.5)["sigma2"] == 3.5
    assert for_run(fedavg.full_participation_gap, SOFTMAX, Full(), num_rounds=3, G2=1e6)["L"] == SOFTMAX.smoothness
    assert for_run(fedavg.one_round, FED, Full(), **run, distance2=1.0)["L"] == 5.0
    of_wells = for_run(ocs.dsgd_nonconvex, WELLS, Full(), **run, value=1.0, gradient2=1.0)
    assert of_wells["dissimilarity"] == WELLS.dissimilarity


def test_the_step_sizes_of_a_delay_are_prescribed_and_tell_the_delay():
    run = {"num_rounds": 7, "local_steps": 3, "initial": np.ones(EIGHT.dim)}
    bound, delay = poc.decaying_steps_distance, 6 * EIGHT.smoothness / EIGHT.strong_convexity
    with pytest.raises(TypeError, match="needs gamma, which sets its step sizes: give gamma= or step_size="):
        for_run(bound, EIGHT, Proportional(2), **run)  # gamma is no factor of improvement
    left_out = for_run(bound, EIGHT, Proportional(2), gamma=delay, **run)
    sizes = poc.delayed_step_sizes(21, mu=EIGHT.strong_convexity, gamma=delay)
    assert for_run(bound, EIGHT, Proportional(2), gamma=delay, step_size=sizes, **run) == left_out
    read_off = for_run(bound, EIGHT, Proportional(2), step_size=sizes, **run)
    assert read_off == pytest.approx(left_out, rel=1e-14)
    # by definition, 1/(mu (t + gamma))
    by_hand = [1 / (EIGHT.strong_convexity * (t + delay)) for t in range(21)]
    np.testing.assert_allclose(poc.delayed_step_sizes(21, mu=EIGHT.strong_convexity, gamma=delay), by_hand, rtol=1e-15)
    with pytest.raises(AssumptionViolated, match=r"prescribes the step size .* at step 0"):
        for_run(bound, EIGHT, Proportional(2), gamma=delay, step_size=1e-6, **run)
    with pytest.raises(AssumptionViolated, match=r"prescribes the step size .* at step 1"):
        for_run(bound, EIGHT, Proportional(2), step_size=1e-3, **run)
    with pytest.raises(AssumptionViolated, match=r"gamma >= 2 local_steps L/mu"):
        for_run(bound, EIGHT, Proportional(2), gamma=delay / 2, **run)


def test_the_step_of_a_whole_move_is_that_of_the_server():
    run = {"num_rounds": 1, "local_steps": 3, "step_size": 0.0002, "server_step_size": 4.0, "initial": START}
    drift = for_run(ocs.client_drift, FED, Independent(1.0), mean_gradient2=2.0, **run)
    assert drift["step_size"] == pytest.approx(3 * 0.0002 * 4, rel=1e-15)
    with pytest.raises(AssumptionViolated, match=r"step_size <= 1/\(8 L \(2 \+ M/R\)\): got 0.024"):
        for_run(ocs.client_drift, FED, Independent(1.0), mean_gradient2=2.0, **run | {"step_size": 0.002})
    # one step of all clients, of which the server takes all: DSGD's step is the local one
    step = {"num_rounds": 1, "step_size": 0.002, "initial": START, "distance2": 1.0}
    assert for_run(ocs.dsgd_contraction, FED, Full(), **step)["step_size"] == 0.002


def test_a_sampled_step_needs_equal_weights():
    # Weights 9/10 and 1/10, clients at 1 and -1 of curvature 1, one of them drawn uniformly at w* = 4/5: a step of 1/2
    # goes half of the way to it, a mean squared distance of (1/25 + 81/25)/8.
    fed = ft.QuadraticFederation([1.0, 1.0], [[1.0], [-1.0]], [0.9, 0.1])
    run = {"num_rounds": 1, "step_size": 0.5, "initial": fed.minimizer, "distance2": 0.0}
    models = ft.fedavg(fed, Uniform(1), num_replicates=1000, record=("models",), num_rounds=1, step_size=0.5,
                       initial=fed.minimizer).records["models"][:, -1]  # fmt: skip
    measured = np.mean((models - fed.minimizer) ** 2)
    assert measured == pytest.approx((0.04 + 3.24) / 8, rel=0.2)
    known = {"mu": 1, "L": 1, "num_clients": 2, "num_selected": 1, "objective_gap": fed.objective_gap}
    assert measured > 2 * fedavg.sampled_step(0.0, step_size=0.5, **known)
    for aggregation in ("mean", "weighted"):
        with pytest.raises(AssumptionViolated, match=r"all p_k are equal: got weights from 0\.1 to 0\.9"):
            for_run(fedavg.sampled_step, fed, Uniform(1, aggregation), **run)


def test_steps_of_each_client_are_the_same_where_all_take_as_many():
    run = {"num_rounds": 3, "step_size": 0.001}
    all_three = for_run(poc.fixed_step_gap, EIGHT, Proportional(2), local_steps=[3] * 8, **run)
    assert all_three == for_run(poc.fixed_step_gap, EIGHT, Proportional(2), local_steps=3, **run)
    for steps in ([3] * 7 + [2], Stragglers(0.5, 3), np.full((3, 8), 3) - np.eye(3, 8, dtype=int)):
        with pytest.raises(AssumptionViolated, match="covers equal local_steps for all clients, got"):
            for_run(poc.fixed_step_gap, EIGHT, Proportional(2), local_steps=steps, **run)


ABOUT_GAPS = [poc.decaying_steps_gap, poc.decaying_steps_gap.printed, poc.refined_decaying_steps_gap, poc.one_round]
ABOUT_GAPS += [poc.fixed_step_gap, poc.refined_fixed_step_gap, poc.fixed_step_distance, poc.decaying_steps_distance]
ABOUT_GAPS += [poc.averaged_rounds_gap, poc.weighted_average_gap, poc.derived_weighted_average_gap]


@pytest.mark.parametrize("bound", ABOUT_GAPS, ids=lambda bound: bound.__name__)
@pytest.mark.parametrize("strategy", [Proportional(2), Uniform(2), PowerOfChoice(2, 3)], ids=str)
def test_clients_of_one_minimizer_have_no_bias_whatever_rho_tilde_is(bound, strategy):
    # F_k(w*) = F_k* for all k: the product of rho_tilde and the objective gap is 0.
    center = np.array([0.3, -1.7])
    fed = ft.QuadraticFederation([1.0, 2.0, 1.5], [center] * 3, [0.5, 0.25, 0.25], [0.0, 1.0, 2.0])
    run = {"num_rounds": 30, "local_steps": 2, "initial": center + 1}
    given = {"step_size": 0.1} if "step_size" in bound.domains else {}
    given |= {"gamma": 8 * 2.0} if "gamma" in bound.domains else {}
    given |= {"distance2": 2.0} if bound is poc.one_round else {}
    arguments = for_run(bound, fed, strategy, **run, **given)
    assert arguments["rho_tilde"] < np.inf
    assert arguments["objective_gap"] < 1e-28
    value = bound(**arguments)
    larger = bound(**arguments | {"rho_tilde": 1e6 * arguments["rho_tilde"]})
    assert larger == pytest.approx(value, rel=1e-15)
    sizes = given.get("step_size", bound.step_sizes and bound.step_sizes(60, **{
        name: arguments[name] for name in list(inspect.signature(bound.step_sizes).parameters)[1:]
    }))  # fmt: skip
    models = ft.fedavg(fed, strategy, step_size=sizes, record=("models",), num_replicates=20, **run).records["models"]
    last = models[:, 1 if bound is poc.one_round else -1]
    measured = fed.excess(last) if "gap" in bound.__name__ else np.sum((last - center) ** 2, axis=-1)
    assert 0 < np.mean(measured) <= value


def test_clients_of_weight_zero_that_are_selected_bias_although_the_objective_gap_is_zero():
    fed = ft.QuadraticFederation([1.0, 1.0], [[1.0], [-1.0]], [1.0, 0.0])
    assert fed.objective_gap == 0.0
    assert tuple(ft.exact.selection_skew(fed, Uniform(1)).rho_tilde) == (np.inf, np.inf)
    with pytest.raises(AssumptionViolated, match="rho_tilde times objective_gap must be finite, got objective_gap = 0"):
        for_run(poc.fixed_step_distance, fed, Uniform(1), num_rounds=3, step_size=0.1)
    # those that are never drawn do no harm
    known = for_run(poc.fixed_step_distance, fed, Proportional(1), num_rounds=3, step_size=0.1)
    assert known["rho_tilde"] == 1.0


PAPER = Paper("toy", "A toy", "Nobody", 2000)
MEAN = (Scheme("any", "mean"),)


def stated(*assumes, schemes=MEAN, **more):
    """A bound that its author has not thought about runs for."""

    @states(PAPER, "Theorem 1", assumes=assumes, schemes=schemes, **more)
    def toy(num_rounds, *, step_size, mu, L):
        return {"toy": L / mu * step_size * num_rounds}

    return toy


@pytest.mark.parametrize(
    ("hypothesis", "reason"),
    [
        (Hypothesis("clients are polite"), "clients are polite, which cannot be checked on a run"),
        (SimpleNamespace(text="gradients are light", violation=lambda _: None), "light, which cannot be checked"),
        (Smooth(of="h"), "h is L-smooth, which cannot be checked on a run"),
        (Hypothesis("there are three clients", of_run=lambda run: f"{run.num_clients}"), "three clients: got 8"),
    ],
    ids=lambda value: "",
)
def test_a_hypothesis_that_a_run_does_not_fulfill_or_that_cannot_be_checked_refuses_it(hypothesis, reason):
    run = {"num_rounds": 3, "step_size": 0.001}
    assert for_run(stated(Smooth()), EIGHT, Proportional(2), **run)["num_rounds"] == 3
    with pytest.raises(AssumptionViolated, match=reason):
        for_run(stated(Smooth(), hypothesis), EIGHT, Proportional(2), **run)


def test_a_bound_that_does_not_state_its_selection_or_its_step_sizes_covers_no_run():
    run = {"num_rounds": 3, "step_size": 0.001}
    with pytest.raises(AssumptionViolated, match="which selection and aggregation"):
        for_run(stated(Smooth(), schemes=(ANY_SCHEME,)), EIGHT, Proportional(2), **run)
    assert for_run(stated(Smooth(), schemes=(ANY_SCHEME,), options=("strategy",)), EIGHT, Proportional(2), **run)

    @states(PAPER, "Theorem 2", assumes=(Smooth(),), schemes=MEAN)
    def timeless(num_rounds, *, L):
        return {"toy": L * num_rounds}

    with pytest.raises(AssumptionViolated, match="which step sizes"):
        for_run(timeless, EIGHT, Proportional(2), **run)


@pytest.mark.parametrize("option", ["gradient_noise", "relative_noise", "server_step_size", "local_steps", "momentum"])
def test_a_new_bound_refuses_what_its_author_has_not_named(option):
    run = {"num_rounds": 3, "step_size": 0.001, option: 2 if option == "local_steps" else 0.5}
    with pytest.raises(AssumptionViolated, match=f"covers {option} = [01], got (2|0.5)"):
        for_run(stated(Smooth()), EIGHT, Proportional(2), **run)
    assert for_run(stated(Smooth(), options=(option,)), EIGHT, Proportional(2), **run)["step_size"] == 0.001


def test_noise_is_named_by_a_hypothesis_only_with_its_constant_and_where_that_is_known_of_a_run():
    run = {"num_rounds": 3, "step_size": 0.001, "gradient_noise": 0.5}
    silent = stated(Noise(), BoundedGradients())
    with pytest.raises(AssumptionViolated, match=r"covers gradient_noise = 0, got 0\.5"):
        for_run(silent, EIGHT, Proportional(2), **run)

    def toy(noise, domain):
        @states(PAPER, "Theorem 4", assumes=(Noise("noise", relative="M"),), schemes=MEAN, domains={"noise": domain})
        def of_noise(step_size, *, noise):
            return {"toy": noise * step_size}

        return for_run(of_noise, EIGHT, Proportional(2), **run, **({} if noise is None else {"noise": noise}))

    with pytest.raises(AssumptionViolated, match=r"covers gradient_noise = 0, got 0\.5"):
        toy(0.5, POSITIVE)
    known = POSITIVE._replace(of_run="sigma2")
    assert toy(None, known)["noise"] == 0.5
    run["relative_noise"] = 0.25
    with pytest.raises(AssumptionViolated, match=r"covers relative_noise = 0, got 0\.25"):
        toy(None, known)


def test_gradients_bounded_given_the_indicators_are_not_proved_with_noise():
    priority = ft.federation.prioritize(EIGHT, (True,) * 5 + (False,) * 3)
    strategy = LossMatching(tuple(priority.priority), priority.shares)
    run = {"num_rounds": 3, "theta": 1.0, "rho": 1.0}
    assert for_run(fedalign.full_participation_gap, priority.federation, strategy, **run)["sigma2"] == 0.0
    with pytest.raises(AssumptionViolated, match="also given the round's indicators, which is not proved with grad"):
        for_run(fedalign.full_participation_gap, priority.federation, strategy, gradient_noise=1.0, **run)
    noisy = for_run(fedalign.full_participation_gap, priority.federation, strategy, gradient_noise=1.0, G2=1e6, **run)
    assert (noisy["G2"], noisy["sigma2"]) == (1e6, 1.0)
    drawn = LossMatching(tuple(priority.priority), priority.shares, num_draws=4)
    assert for_run(fedalign.partial_participation_gap, priority.federation, drawn, **run)["num_draws"] == 4
    with pytest.raises(AssumptionViolated, match=r"drawn with replacement, .*: got selection 'loss matching'"):
        for_run(fedalign.partial_participation_gap, priority.federation, strategy, num_draws=4, **run)
