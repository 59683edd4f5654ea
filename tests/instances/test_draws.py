"""Random instances keep the hypotheses that they promise, and reach the corners in which claims are decided."""

from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np
import pytest

from fedtheory.rational._run_draws import draw_alignment, draw_phi_round, draw_quadratic_round, draw_run
from fedtheory.rational.draws import (
    draw_budget,
    draw_federation,
    draw_law,
    draw_noise,
    draw_norms,
    draw_phi,
    draw_updates,
)
from fedtheory.rational.vectors import inner

DRAWS = 200
# A corner that a fifth of the draws should reach is missed by this share of 200 only once in 10^6.
SOME, MANY = DRAWS // 20, DRAWS // 2


def drawn(draw: Any, *args: Any, **options: Any) -> list[Any]:
    rng = np.random.default_rng(31)
    return [draw(rng, *args, **options) for _ in range(DRAWS)]


def test_norms_have_zeros_and_ties_and_are_far_apart_within_one_instance() -> None:
    norms = drawn(draw_norms)
    positive = [[norm for norm in one if norm] for one in norms]
    assert {len(one) for one in norms} == set(range(1, 10))
    assert all(norm >= 0 for one in norms for norm in one)
    assert sum(len(nonzero) < len(one) for nonzero, one in zip(positive, norms, strict=True)) > SOME
    assert sum(len(set(nonzero)) < len(nonzero) for nonzero in positive) > SOME
    assert sum(len(one) > 1 and len(set(one)) == 1 for one in norms) > SOME
    ratios = [max(nonzero) / min(nonzero) for nonzero in positive if nonzero]
    assert max(ratios) > 10**100
    assert sum(10**3 < ratio < 10**30 for ratio in ratios) > SOME


def test_budgets_are_positive_and_whole_or_broken_and_up_to_all_clients() -> None:
    budgets = drawn(draw_budget, 7)
    assert all(0 < budget <= 7 for budget in budgets)
    assert SOME < sum(budget == 7 for budget in budgets) < MANY
    assert sum(budget.denominator == 1 for budget in budgets if budget < 7) > SOME
    assert sum(budget < 1 for budget in budgets) > SOME // 4
    assert {budget.denominator for budget in budgets} == {1, 2, 4, 8}


def test_updates_have_the_norms_that_come_with_them_and_point_both_ways() -> None:
    found = drawn(draw_updates, 4)
    for norms, updates in found:
        assert [sum(x * x for x in update) for update in updates] == [norm**2 for norm in norms]
    assert {np.sign(float(update[0])) for _, updates in found for update in updates} == {-1, 0, 1}


def test_every_client_is_drawn_by_a_sampling_that_also_draws_less_than_everybody() -> None:
    laws = drawn(draw_law, 3)
    assert all(law[(0, 1, 2)] > 0 for law in laws)
    assert {chosen for law in laws for chosen in law} > {(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2)}


def test_federations_are_alike_or_not_with_condition_number_at_most_16() -> None:
    federations = drawn(draw_federation)
    for fed in federations:
        curvatures = list(chain.from_iterable(fed.curvatures))
        assert max(curvatures) / min(curvatures) <= 16
        assert sum(fed.weights) == 1
    assert SOME < sum(len(set(fed.centers)) == 1 for fed in federations) < MANY
    assert {(fed.num_clients, fed.dim) for fed in federations} == {(2, 1), (2, 2), (3, 1), (3, 2)}


def test_wells_differ_by_slopes_that_cancel_or_by_depths_and_places_on_both_sides() -> None:
    clients = drawn(draw_phi, 3)
    tilted = [one for one in clients if any(one.slopes)]
    moved = [one for one in clients if len(set(one.centers)) > 1]
    assert min(len(tilted), len(moved)) > SOME
    assert all(inner(one.weights, one.slopes) == 0 and len(set(one.amplitudes)) == 1 for one in tilted)
    assert not any(one in tilted for one in moved)
    assert {np.sign(float(center)) for one in moved for center in one.centers} == {-1, 0, 1}
    assert any(len(set(one.amplitudes)) > 1 for one in moved)


def test_noise_has_mean_zero_along_the_first_coordinate() -> None:
    noises = drawn(draw_noise, 2)
    for noise in noises:
        assert noise.mean(lambda vector: vector[0]) == 0
        assert all(vector[1] == 0 for vector in noise)
    assert SOME < sum(len(noise) == 1 for noise in noises) < MANY


@pytest.mark.parametrize("draw", [draw_run, draw_alignment])
def test_some_runs_start_at_the_minimizer_and_most_elsewhere_with_noise_or_without(draw: Any) -> None:
    runs = [one.run for one in drawn(draw)]
    assert SOME < sum(run.initial == run.federation.minimizer for run in runs) < MANY
    assert sum(len(run.noise) > 1 for run in runs) > SOME
    assert {run.local_steps for run in runs} >= {1, 2, 3}


@pytest.mark.parametrize("draw", [draw_quadratic_round, draw_phi_round])
def test_steps_of_a_round_reach_the_longest_that_theorems_17_and_18_allow_and_no_further(draw: Any) -> None:
    shares = set()
    for one in drawn(draw, longest_round=3):
        law, budget = str(one.instance["law"]).split()[:2]
        if law == "uniform,":
            drawn_round, problem = one.round, one[1]
            L, M, R = problem.smoothness, drawn_round.noise_factor**2, drawn_round.local_steps
            gamma = Fraction(budget) / drawn_round.num_clients
            first, second = 8 * L * (2 + M / R), 8 * L * (1 + max(drawn_round.weights) * M / R) / gamma
            shares.add(drawn_round.step_size * max(first, second))
    assert shares == {Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(1)}


def test_a_run_with_a_threshold_for_each_round_takes_the_local_steps_of_all_rounds() -> None:
    runs = [one.run for one in drawn(draw_alignment)]
    assert all(run.num_steps == len(run.thresholds) * run.local_steps for run in runs)
    assert max(run.num_steps for run in runs) == 3 * 4
    # One or two clients that have priority beside one or two that have none.
    sizes = {(sum(map(bool, run.federation.weights)), run.federation.num_clients) for run in runs}
    assert sizes == {(1, 2), (1, 3), (2, 3), (2, 4)}


def test_noise_is_drawn_where_paths_stay_few() -> None:
    aligned = [one.run for one in drawn(draw_alignment)]
    noisy = [run for run in aligned if len(run.noise) > 1]
    assert all(run.federation.num_clients * run.local_steps <= 4 and len(run.thresholds) == 1 for run in noisy)
    for one in drawn(draw_run):
        run = one.run
        per_round = len(run.select(run.initial)) * len(run.noise) ** (one.num_selected * run.local_steps)
        begun = -(-run.num_steps // run.local_steps)
        assert begun == 1 or per_round**begun <= 250
