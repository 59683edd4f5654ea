"""The applicable bounds of a run are those of ``for_run``, with the largest allowed step sizes."""

from dataclasses import dataclass
from itertools import groupby

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.__main__ import main
from fedtheory.bounds import client_sampling, fedavg, fedexp, power_of_choice, sgd
from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.bounds.error_feedback import cgd_gap
from fedtheory.errors import AssumptionViolated
from fedtheory.exact import applicable, bounds_over_rounds, for_run
from fedtheory.methods import Compressed, RandK, TopK
from fedtheory.plotting import bound_versus_error
from fedtheory.selection import Full, Independent, Proportional, Uniform
from fedtheory.theorem import largest_step_size, obstacle, setting_of
from fedtheory.verification import known_bounds

FED = ft.QuadraticFederation([1.0, 2.0, 1.0], [[1.0], [-1.0], [0.5]], [1 / 3] * 3)
RUN = {"num_rounds": 20, "step_size": 0.1, "initial": [3.0]}
RUNS = {
    "all clients, three local steps": (Full(), {"local_steps": 3}),
    "uniform sampling with noise": (Uniform(2), {"gradient_noise": 0.5}),
    "drawn clients": (Proportional(1), {}),
    "independent sampling": (Independent(2), {}),
    "momentum": (Full(), {"momentum": 0.5}),
}


def rows_of(name):
    strategy, options = RUNS[name]
    return applicable(FED, strategy, **RUN, **options)


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_a_bound_applies_where_for_run_returns_its_arguments_and_has_their_value(name):
    strategy, options = RUNS[name]
    rows = rows_of(name)
    assert len(rows) == len(known_bounds())
    for row in rows:
        if row.verdict == "applies":
            assert row.value == float(row.bound(**for_run(row.bound, FED, strategy, **RUN, **options)))
        elif row.reason != "it is false as stated":
            with pytest.raises((TypeError, ValueError)):
                for_run(row.bound, FED, strategy, **RUN, **options)


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_bounds_that_apply_come_first_grouped_by_left_side_and_sorted_by_value(name):
    rows = rows_of(name)
    verdicts = [row.verdict for row in rows]
    assert verdicts == sorted(verdicts, key=("applies", "needs constants", "does not apply").index)
    applying = [row for row in rows if row.verdict == "applies"]
    sides = [(row.bound.left.quantity, row.bound.left.model, row.bound.left.after) for row in applying]
    groups = [list(group) for _, group in groupby(zip(sides, applying, strict=True), key=lambda pair: pair[0])]
    assert len(groups) == len(set(sides)), "each group stands together"
    for group in groups:
        values = [row.value for _, row in group]
        assert values == sorted(values)
    compared = [bool(row.bound.left.measured) for row in applying]
    assert compared == sorted(compared, reverse=True)


@pytest.mark.slow
def test_a_bound_that_needs_constants_applies_once_they_are_given():
    row = {row.name: row for row in rows_of("all clients, three local steps")}["fedavg.one_round"]
    assert (row.verdict, row.missing, row.result) == ("needs constants", ("distance2",), "distance2")
    with_it = applicable(FED, Full(), local_steps=3, distance2=4.0, **RUN)
    assert {row.name: row.verdict for row in with_it}["fedavg.one_round"] == "applies"


@pytest.mark.slow
def test_a_statement_that_is_proved_false_applies_to_no_run():
    false = "optimal_client_sampling.dsgd_per_client_variant"
    row = {row.name: row for row in rows_of("independent sampling")}[false]
    assert (row.verdict, row.result) == ("does not apply", "it is false as stated")


@pytest.mark.parametrize("local_steps", [[1, 2, 3], np.full((20, 3), 2), ft.engine.Stragglers(0.5, 3)], ids=type)
def test_bounds_are_checked_on_runs_whose_clients_take_different_numbers_of_steps(local_steps):
    rows = applicable(FED, Full(), local_steps=local_steps, **RUN)
    reasons = {row.name: row.result for row in rows}
    is_equal = isinstance(local_steps, np.ndarray)
    assert ("covers equal local_steps" in reasons["sgd.local_steps_round"]) is not is_equal


# The conditions of the theorems, by hand.
LARGEST = [(fedavg.one_round, 1 / 4), (sgd.fixed_step_distance, 2 / 4), (ocs.full_participation_distance, 1 / 4)]


@pytest.mark.parametrize(("bound", "expected"), LARGEST)
def test_the_largest_step_size_is_that_of_the_hypothesis(bound, expected):
    constants = {name: 4 if name == "L" else 1 for name in bound.domains if name != "step_size"}
    assert largest_step_size(bound, **constants) == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["all clients, three local steps", "drawn clients"])
def test_step_sizes_that_hypotheses_allow_are_an_interval_that_begins_at_zero(name):
    checked = 0
    for row in rows_of(name):
        if row.verdict == "applies" and "step_size" in row.arguments:
            others = {key: value for key, value in row.arguments.items() if key != "step_size"}
            largest = largest_step_size(row.bound, **others)
            checked += 1
            for factor in (1e-6, 0.01, 0.1, 0.5, 0.9, 1.0):
                assert row.bound(strict=False, step_size=factor * min(largest, 1e6), **others)[1] == []
            for factor in (1.0001, 1.5, 4.0) if largest < np.inf else ():
                value, unmet = row.bound(strict=False, step_size=factor * largest, **others)
                assert unmet or not np.isfinite(value)
    assert checked


def test_hypotheses_that_hold_for_no_step_size_are_an_error():
    with pytest.raises(AssumptionViolated, match="the hypotheses must hold for some step size, got at step_size = "):
        largest_step_size(sgd.subset_step, 1.0, mu=1.0, L=1.0, num_selected=1, num_clients=1, zeta2=1.0)


SETTINGS = {
    "fedavg.without_replacement_gap": (("strongly convex", "uniform", "stochastic"), ("convex", "full participation")),
    "optimal_client_sampling.dsgd_nonconvex": (("non-convex", "independent", "stochastic"), ("uniform",)),
    "power_of_choice.fixed_step_gap": (("strongly convex", "power of choice", "uniform"), ("non-convex",)),
    "sgd.drawn_step": (("strongly convex", "proportional", "exact"), ("stochastic", "full participation")),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_settings_of_a_bound_are_those_of_its_theorem(name):
    bound, (covered, others) = known_bounds()[name], SETTINGS[name]
    assert obstacle(bound, covered) is None
    for word in others:
        assert obstacle(bound, [word])


def test_a_bound_with_a_horizon_is_about_a_whole_run():
    assert setting_of(fedavg.one_round).horizon == "one round"
    assert setting_of(fedavg.fixed_step_distance).horizon == "whole run"


@pytest.mark.slow
def test_list_for_a_setting_has_all_bounds_and_those_that_cover_it_first(capsys):
    assert main(["list", "--for", "nonconvex", "Independent"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    starts = [head.index(name) for name in ("bound", "verdict", "of", "reason")]
    rows = [[line[start:].partition("  ")[0].strip() for start in starts] for line in lines]
    assert {name for name, *_ in rows} == set(known_bounds())
    verdicts = [verdict for _, verdict, _, _ in rows]
    assert verdicts == sorted(verdicts)
    assert all(bool(reason) == (verdict == "does not apply") for _, verdict, _, reason in rows)


def test_a_step_of_any_sampling_needs_an_unbiased_one():
    fed = ft.QuadraticFederation([1.0, 2.0], [[0.0], [1.0]], [0.25, 0.75])
    run = {"num_rounds": 1, "step_size": 0.1, "distance2": 1.0, "sampling_variance": 1.0}
    assert for_run(client_sampling.one_step, fed, Proportional(1), **run)["sampling_variance"] == 1
    with pytest.raises(AssumptionViolated, match=r"expected weight p_k: got weights from 0\.25 to 0\.75"):
        for_run(client_sampling.one_step, fed, Uniform(1), **run)


@dataclass(frozen=True)
class Half:
    """A user's compressor, which may draw numbers."""

    def compress(self, dim):
        return TopK(1).compress(dim)._replace(epsilon=0.25)


def test_a_bound_on_single_runs_needs_a_compressor_whose_error_is_bounded_in_each_of_them():
    fed = ft.QuadraticFederation([[1.0, 1.0]], [[0.0, 0.0]], [1.0])
    run = {"num_rounds": 5, "step_size": 0.5, "initial": [1.0, 1.0]}
    # In a run whose draws are all of one coordinate, the other half of the gap of 1 is left.
    assert sum(cgd_gap.terms(**for_run(cgd_gap, fed, Full(), method=Compressed(TopK(1)), **run)).values()) < 0.5
    with pytest.raises(AssumptionViolated, match=r"is a contraction: .*: got RandK\(k=1, scaled=False\), whose error"):
        for_run(cgd_gap, fed, Full(), method=Compressed(RandK(1)), compression_error=0.75, **run)
    with pytest.raises(AssumptionViolated, match=r"got Half\(\), whose error is known to be bounded only on average"):
        for_run(cgd_gap, fed, Full(), method=Compressed(Half()), **run)
    assert for_run(cgd_gap, fed, Full(), method=Compressed(Half()), compression_error=0.5, **run)["initial_gap"] == 1.0


def test_extrapolation_needs_a_common_minimizer_and_possible_updates():
    run = {"num_rounds": 1, "step_size": 0.5, "server_step_size": 2.0, "distance2": 1.0}
    same, other = (ft.QuadraticFederation([1.0, 2.0], [[0.0], [center]], [0.5, 0.5]) for center in (0.0, 1.0))
    updates = {"update2": 0.625, "mean_update2": 0.5625}
    found = for_run(fedexp.one_round, same, Full(), **run, **updates)
    assert sum(fedexp.one_round.terms(**found).values()) == 1 - 2 * 2 * 0.625 + 4 * 0.5625
    with pytest.raises(AssumptionViolated, match=r"w\* minimizes every F_k: got a client whose gradient at w\*"):
        for_run(fedexp.one_round, other, Full(), **run, **updates)
    with pytest.raises(AssumptionViolated, match="mean_update2 <= update2"):
        fedexp.one_round(1, step_size=0.5, L=2, local_steps=1, server_step_size=2, update2=1, mean_update2=2)
    with pytest.raises(AssumptionViolated, match="update2 <= 4 distance2"):
        fedexp.one_round(1, step_size=0.5, L=2, local_steps=1, server_step_size=2, update2=5, mean_update2=2)


RECORDED = {
    "all clients": (Full(), {"local_steps": 2}),
    "drawn clients": (Proportional(1), {}),
    "noise": (Full(), {"gradient_noise": 0.5}),
}


@pytest.mark.slow
@pytest.mark.parametrize("quantity", ["gap", "squared distance"])
@pytest.mark.parametrize("name", RECORDED)
def test_the_mean_of_a_recorded_quantity_stays_below_each_of_its_bounds_in_every_round(name, quantity):
    strategy, options = RECORDED[name]
    run = ft.fedavg(FED, strategy, num_replicates=400, record=("gap", "models"), **options, **RUN)
    measured = {"gap": run.gap, "squared distance": ((run.models - FED.minimizer) ** 2).sum(-1)}[quantity]
    found = bounds_over_rounds(run, quantity)
    assert found or quantity == "gap", "some bound on the distance applies to each of these runs"
    slack = 4 * measured.std(axis=0) / 20 + 1e-12
    for values in found.values():
        assert (measured.mean(axis=0) <= values + slack).all()


def test_values_over_rounds_end_with_the_value_of_the_bound_and_start_with_the_first_model():
    run = ft.fedavg(FED, Full(), record=("models",), record_every=7, **RUN)
    found = bounds_over_rounds(run, "squared distance")
    assert run.rounds.tolist() == [0, 7, 14]
    shorter = applicable(run, num_rounds=14)
    last = {row.bound: row.value for row in shorter if row.value is not None}
    first = float(((run.models[0, 0] - FED.minimizer) ** 2).sum())
    for bound, values in found.items():
        assert values.shape == run.rounds.shape
        assert values[-1] == pytest.approx(last[bound], rel=1e-12)
        assert values[0] >= first * (1 - 1e-12)


def test_a_plot_refuses_a_bound_on_another_quantity_or_another_model():
    from matplotlib.figure import Figure

    axes, ones = Figure().add_subplot(), np.ones(2)
    error = (ones, ones, ones)
    with pytest.raises(ValueError, match=r"bounds must bound the gap of the last model.*squared distance of the last"):
        bound_versus_error(axes, [0, 1], error, {fedavg.fixed_step_distance: ones})
    with pytest.raises(ValueError, match="a weighted average of models"):
        bound_versus_error(axes, [0, 1], error, {power_of_choice.averaged_rounds_gap: ones})
    bound_versus_error(axes, [0, 1], error, {fedavg.fixed_step_distance: ones}, quantity="squared distance")
