"""Random instances fulfill their hypotheses, and include the corner cases of claims."""

import re
from collections.abc import Iterable
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np
import pytest

from fedtheory.instances.draws import draw_federation, draw_noise
from fedtheory.instances.run_draws import draw_alignment, draw_run
from fedtheory.instances.sampled_rounds import draw_quadratic_round, draw_wells_round

DRAWS = 200
# A corner that a fifth of the draws should reach is missed by this share of 200 only once in 10^6.
SOME, MANY = DRAWS // 20, DRAWS // 2


def drawn(draw: Any, *args: Any, **options: Any) -> list[Any]:
    rng = np.random.default_rng(31)
    return [draw(rng, *args, **options) for _ in range(DRAWS)]


def test_federations_are_alike_or_not_with_condition_number_at_most_16() -> None:
    federations = drawn(draw_federation)
    for fed in federations:
        curvatures = list(chain.from_iterable(fed.curvatures))
        assert max(curvatures) / min(curvatures) <= 16
        assert sum(fed.weights) == 1
    assert SOME < sum(len(set(fed.centers)) == 1 for fed in federations) < MANY
    assert {(fed.num_clients, fed.dim) for fed in federations} == {(2, 1), (2, 2), (3, 1), (3, 2)}


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


@pytest.mark.parametrize("draw", [draw_quadratic_round, draw_wells_round])
def test_steps_of_a_round_reach_the_longest_that_theorems_17_and_18_allow_and_no_further(draw: Any) -> None:
    shares = set()
    for drawn_round, problem, instance in drawn(draw, longest_round=3):
        law, budget = str(instance["law"]).split()[:2]
        if law == "uniform,":
            L, M, R = problem.smoothness, drawn_round.noise_factor**2, drawn_round.local_steps
            gamma = Fraction(budget) / drawn_round.num_clients
            first, second = 8 * L * (2 + M / R), 8 * L * (1 + max(drawn_round.weights) * M / R) / gamma
            shares.add(drawn_round.step_size * max(first, second))
    assert shares == {Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(1)}


def numbers(value: Any) -> list[Fraction]:
    """Return the numbers of nested sequences, or of words."""
    if isinstance(value, str):
        return [Fraction(found) for found in re.findall(r"-?\d+(?:/\d+)?", value)]
    if isinstance(value, Iterable):
        return [number for part in value for number in numbers(part)]
    return [Fraction(value)]


@pytest.mark.parametrize("draw", [draw_run, draw_alignment])
def test_a_run_is_told_by_the_numbers_that_define_it(draw: Any) -> None:
    for one in drawn(draw)[:20]:
        told, run = {name: numbers(value) for name, value in one.instance.items()}, one.run
        for name in ("curvatures", "centers", "weights", "minima"):
            assert told[name] == numbers(getattr(run.federation, name))
        assert told["local_steps"] + told["num_steps"] == [run.local_steps, run.num_steps]
        assert told["first_step_size"] == [run.step_size(0)]
        assert told["initial"] == list(run.initial)
        assert told["noise"] == [number for value, chance in run.noise.items() for number in (*value, chance)]
        if draw is draw_alignment:
            assert told["shares"] == list(run.shares)
            assert told["thresholds"] == list(run.thresholds)
            assert told["num_draws"] == [run.num_draws]
