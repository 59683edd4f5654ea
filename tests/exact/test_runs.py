"""The arguments that a bound has for a run: each is what the theorem means, or the run is refused in one sentence."""

import inspect
from types import SimpleNamespace

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.bounds import fedalign, fedavg
from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.bounds import power_of_choice as poc
from fedtheory.errors import AssumptionViolated
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

# Curvatures 2 and 5 at (1, 0) and (-1, 2), weights 1/4 and 3/4: w* = (2/4 - 15/4, 30/4) / (17/4).
FED = ft.QuadraticFederation([2.0, 5.0], [[1.0, 0.0], [-1.0, 2.0]], [0.25, 0.75])
START = np.array([3.0, 1.0])
RUN = {"num_rounds": 7, "local_steps": 3, "initial": START}
EIGHT = ft.datasets.power_of_choice_quadratics(num_clients=8, rng=0)


def test_constants_of_the_federation_and_the_run_are_those_of_the_definitions():
    arguments = fedavg.with_replacement_gap.for_run(FED, Proportional(2), gradient_noise=3.0, **RUN)
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
    run = {**RUN, "step_size": 0.002, "gradient_noise": 3.0, "relative_noise": 0.5, "server_step_size": 4.0}
    arguments = ocs.fedavg_contraction.for_run(FED, Independent(1.0), distance2=9.0, **run)
    assert arguments.pop("objective_gap") == FED.objective_gap
    assert arguments == {
        "distance2": 9.0, "step_size": 0.002, "server_step_size": 4.0, "local_steps": 3, "mu": 2.0, "L": 5.0,
        "smallest_gamma": 0.5, "mean_inverse_gamma": 2.0, "max_weight": 0.75, "sum_squared_weights": 0.625,
        "relative_noise": 0.5, "sigma2": 3.0,
    }  # fmt: skip


def test_all_clients_improve_upon_nothing_and_weigh_their_weights():
    arguments = poc.weighted_average_gap.for_run(FED, Full(), **RUN)
    assert (arguments["num_selected"], arguments["squared_weights"]) == (2, 0.625)
    assert poc.weighted_average_gap.for_run(EIGHT, Proportional(5), num_rounds=3)["squared_weights"] == 0.2
    run = {"num_rounds": 7, "step_size": 0.01}
    everybody = ocs.dsgd_contraction.for_run(FED, Full(), distance2=1.0, **run)
    assert (everybody["smallest_gamma"], everybody["mean_inverse_gamma"]) == (1.0, 1.0)
    with pytest.raises(AssumptionViolated, match=r"improvement of .* is not known: give gamma="):
        ocs.dsgd_contraction.for_run(FED, Independent(1.0, "approximate"), distance2=1.0, **run)


def test_dissimilarity_of_clients_of_one_curvature_is_exact_and_of_others_unbounded():
    # Gradients at w are 2 (w - c_k): they differ from their mean by 2 (c_k - mean).
    fed = ft.QuadraticFederation([2.0, 2.0], [[1.0, 0.0], [-1.0, 2.0]], [0.25, 0.75])
    arguments = ocs.dsgd_average_gradient.for_run(fed, Full(), num_rounds=9, step_size=0.1, initial=START)
    mean = np.array([-0.5, 1.5])
    by_hand = 0.25 * 4 * np.sum((np.array([1.0, 0.0]) - mean) ** 2) + 0.75 * 4 * np.sum((np.array([-1, 2]) - mean) ** 2)
    np.testing.assert_allclose(arguments["dissimilarity"], by_hand, rtol=1e-13)
    np.testing.assert_allclose(arguments["initial_gap"], fed.loss(START) - fed.loss(mean), rtol=1e-12)
    assert arguments["num_rounds"] == 9
    with pytest.raises(AssumptionViolated, match="dissimilarity is unbounded"):
        ocs.dsgd_average_gradient.for_run(FED, Full(), num_rounds=9, step_size=0.1)


def test_skews_are_taken_from_the_side_that_keeps_the_bound_true():
    strategy = PowerOfChoice(2, 4)
    skew = ft.exact.selection_skew(EIGHT, strategy, num_models=100)  # what the search sharpens is not asked for
    assert skew.rho_bar.lower < skew.rho_bar.upper
    corrected = poc.decaying_steps_gap.for_run(EIGHT, strategy, num_rounds=10)
    printed = poc.decaying_steps_gap.printed.for_run(EIGHT, strategy, num_rounds=10)
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
    arguments = bound.for_run(EIGHT, strategy, **run)
    constants = {name: arguments[name] for name in ("mu", "L", "local_steps", "num_selected") if name in arguments}
    names = list(inspect.signature(bound.step_sizes).parameters)[1:]
    sizes = bound.step_sizes(40, **{name: constants[name] for name in names})
    exact = ft.exact.expected_gap(EIGHT, strategy, step_size=sizes, **run)[-1]
    assert 0 < exact < bound(**arguments)
    assert bound.for_run(EIGHT, strategy, step_size=sizes, **run) == arguments
    with pytest.raises(AssumptionViolated, match=r"prescribes the step size .* at step 0"):
        bound.for_run(EIGHT, strategy, step_size=sizes * 1.01, **run)
    last = np.where(np.arange(40) == 39, 0.9, 1.0) * sizes
    with pytest.raises(AssumptionViolated, match=r"prescribes the step size .* at step 39"):
        bound.for_run(EIGHT, strategy, step_size=last, **run)
    one = run | {"num_rounds": 1, "local_steps": 1}
    first = bound.step_sizes(1, **{name: (constants | {"local_steps": 1})[name] for name in names})
    assert bound.for_run(EIGHT, strategy, step_size=first, **one) == bound.for_run(EIGHT, strategy, **one)


@pytest.mark.parametrize(
    ("bound", "strategy", "wrong"),
    [
        (poc.decaying_steps_gap, Uniform(2, "weighted"), "aggregation 'weighted'"),
        (poc.decaying_steps_gap, ActiveFederated(2, (1,) * 8), "with a memory"),
        (poc.decaying_steps_gap, PowerOfChoice(2, 4, loss="last"), "with a memory"),
        (poc.decaying_steps_gap, Available(Uniform(2), AlternatingGroups()), "with a memory"),
        (poc.decaying_steps_gap, Available(Uniform(2), BernoulliAvailability(0.5), "allow"), "if any"),
        (poc.decaying_steps_gap, Available(Uniform(2), BernoulliAvailability(0.5)), "skews are not known"),
        (poc.decaying_steps_gap, PowerOfChoice(2, 4, loss="minibatch"), "skews are not known"),
        (fedavg.with_replacement_gap, Uniform(2), "'multinomial'"),
        (fedavg.without_replacement_gap, Uniform(2), "all p_k are equal"),
        (ocs.dsgd_contraction, Proportional(2), "'multinomial'"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_a_theorem_does_not_speak_about_is_refused(bound, strategy, wrong):
    given = {"distance2": 1.0, "step_size": 0.01} if bound is ocs.dsgd_contraction else {}
    with pytest.raises(AssumptionViolated, match=wrong):
        bound.for_run(EIGHT, strategy, num_rounds=10, **given)


def test_equal_weights_are_equal_although_rounding_may_have_made_them_differ_by_a_unit():
    tenth = np.full(10, 0.1) + np.where(np.arange(10) == 3, np.spacing(0.1), 0.0)
    for weights in (np.full(10, 0.1), tenth):
        fed = ft.QuadraticFederation(np.ones(10), np.arange(10.0)[:, None], weights)
        arguments = fedavg.without_replacement_gap.for_run(fed, Uniform(2), num_rounds=10)
        assert arguments["num_clients"] == 10
    apart = np.full(10, 0.1) + np.where(np.arange(10) == 3, 9e-12, -1e-12)
    fed = ft.QuadraticFederation(np.ones(10), np.arange(10.0)[:, None], apart)
    with pytest.raises(AssumptionViolated, match="all p_k are equal"):
        fedavg.without_replacement_gap.for_run(fed, Uniform(2), num_rounds=10)


def test_memoryless_availability_is_covered_with_the_skews_among_those_who_are_there():
    strategy = Available(Uniform(2), BernoulliAvailability(0.5))
    arguments = poc.decaying_steps_gap.for_run(EIGHT, strategy, num_rounds=10, rho_diagonal=0.75, rho_tilde=1.5)
    assert (arguments["rho_diagonal"], arguments["rho_tilde"], arguments["num_selected"]) == (0.75, 1.5, 2)


def test_lemmas_about_one_round_cover_selection_with_a_memory():
    strategy = ActiveFederated(2, (1,) * 8)
    arguments = poc.client_drift.for_run(EIGHT, strategy, num_rounds=1, local_steps=2, step_size=0.01)
    assert arguments["local_steps"] == 2


@pytest.mark.parametrize("option", [{"local_steps": 2}, {"relative_noise": 0.5}, {"server_step_size": 2.0}])
def test_options_without_an_argument_are_refused(option):
    (name,) = option
    bound = ocs.dsgd_contraction if name != "relative_noise" else poc.refined_fixed_step_gap
    strategy = Full() if bound is ocs.dsgd_contraction else Proportional(2)
    known = {"distance2": 1.0} if bound is ocs.dsgd_contraction else {}
    with pytest.raises(AssumptionViolated, match=f"speaks about {name} = "):
        bound.for_run(EIGHT, strategy, num_rounds=3, step_size=0.001, **option, **known)


def test_lemmas_about_no_steps_and_about_single_ones_take_fewer_options_for_granted():
    options = {"num_rounds": 2, "local_steps": 3, "server_step_size": 0.5}
    assert poc.gradient_norm.for_run(FED, Full(), **options, excess=2.0) == {"excess": 2.0, "L": 5.0}
    one = {"num_rounds": 2, "step_size": 0.01, "elapsed_step_size": 0.02, "distance2": 1.0, "G2": 1e3}
    assert poc.one_step.for_run(EIGHT, Proportional(2), local_steps=3, **one)["elapsed_step_size"] == 0.02
    with pytest.raises(AssumptionViolated, match=r"speaks about server_step_size = 1, got 0\.5"):
        poc.one_step.for_run(EIGHT, Proportional(2), **options | one)


def test_a_strategy_that_does_not_say_how_many_it_selects_is_asked_for_it():
    strategy = SimpleNamespace(scheme=Proportional(2).scheme, law=Proportional(2).law)
    with pytest.raises(TypeError, match="strategy must say num_selected, got namespace"):
        poc.decaying_steps_gap.for_run(EIGHT, strategy, num_rounds=3)


def test_hypotheses_about_numbers_are_checked():
    with pytest.raises(AssumptionViolated, match=r"step_size <= 1/\(4 L\)"):
        poc.fixed_step_gap.for_run(EIGHT, Proportional(2), num_rounds=3, step_size=0.9 / EIGHT.smoothness)


def test_what_cannot_be_read_off_is_asked_for_by_name():
    priority = ft.federation.prioritize(EIGHT, (True,) * 5 + (False,) * 3)
    strategy = LossMatching(tuple(priority.priority), priority.shares)
    with pytest.raises(TypeError, match=r"full_participation_gap needs theta, .*: give theta="):
        fedalign.full_participation_gap.for_run(priority.federation, strategy, num_rounds=3)
    with pytest.raises(TypeError, match="has no argument rho; it has num_steps"):
        poc.decaying_steps_gap.for_run(EIGHT, Proportional(2), num_rounds=3, rho=1.0)
    with pytest.raises(ValueError, match="needs one step_size for all steps, got None"):
        poc.fixed_step_gap.for_run(EIGHT, Proportional(2), num_rounds=3)
    with pytest.raises(ValueError, match="needs one step_size for all steps"):
        poc.fixed_step_gap.for_run(EIGHT, Proportional(2), num_rounds=2, step_size=[0.001, 0.002])
    with pytest.raises(TypeError, match="strategy must say its scheme"):
        poc.decaying_steps_gap.for_run(EIGHT, object(), num_rounds=3)


def test_a_federation_without_a_proved_gradient_bound_asks_for_one():
    fed = ft.SoftmaxFederation(ft.datasets.synthetic(1.0, 1.0, num_clients=3, rng=0), 0.1)
    with pytest.raises(AssumptionViolated, match="gradients of a SoftmaxFederation is not known: give G2="):
        fedavg.full_participation_gap.for_run(fed, Full(), num_rounds=3)
    known = fedavg.full_participation_gap.for_run(fed, Full(), num_rounds=3, G2=1e6)
    assert known["L"] == fed.smoothness
