"""Runs enumerated along every path, against hand computation, moment recursions and sampling."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.instances.federations import opposite_clients
from fedtheory.instances.noise import no_noise, two_point_noise
from fedtheory.instances.run_draws import WEIGHTED_LAWS, draw_run
from fedtheory.instances.runs import RationalRun, constant_law, elapsed, gap
from fedtheory.instances.vectors import combination, vector
from fedtheory.sampling.cohorts import uniform_subsets, with_replacement
from fedtheory.selection.proportional import Proportional
from fedtheory.selection.uniform import Uniform
from fedtheory.statistics.law import Law

STRATEGIES = {"proportional": Proportional, "uniform": Uniform}


def opposite_run(**changes: object) -> RationalRun:
    fed = opposite_clients()
    run = RationalRun(
        federation=fed,
        select=constant_law(with_replacement(fed.weights, 1)),
        local_steps=2,
        step_size=lambda _: Fraction(1, 4),
        initial=vector(0),
        num_steps=2,
        noise=no_noise(1),
    )
    return replace(run, **changes)  # type: ignore[arg-type]


def test_a_run_of_one_client_is_what_the_hand_computes() -> None:
    # From 0 towards +-1 with step 1/4: 1/4 after one step, 1/4 + 3/16 = 7/16 after two.
    run = opposite_run()
    assert {at.average[0] for at in run.snapshots[1]} == {Fraction(1, 4), Fraction(-1, 4)}
    assert {at.average[0] for at in run.snapshots[2]} == {Fraction(7, 16), Fraction(-7, 16)}
    assert gap(run, 2) == Fraction(49, 512)


def test_copies_of_a_client_have_noise_of_their_own() -> None:
    # Two copies of either client, one step from 0 with noise +-1: the noise averages to 0 or +-1.
    noise = two_point_noise(vector(1))
    run = opposite_run(select=lambda _: uniform_subsets(1, 1), noise=noise, num_steps=1)
    twice = replace(run, select=lambda _: Law.certain((0, 0)))
    variance = [
        r.snapshots[1].mean(lambda at: at.average[0] ** 2) - r.snapshots[1].mean(lambda at: at.average[0]) ** 2
        for r in (run, twice)
    ]
    # eta^2 sigma^2 / m
    assert variance == [Fraction(1, 16), Fraction(1, 32)]


def test_noise_is_added_to_the_gradient() -> None:
    # Gradients -1 and 1 at 0, noise 3 with probability 1/4, else -1: steps of 1/4 against 2, -2, 4 and 0.
    run = opposite_run(noise=two_point_noise(vector(3), Fraction(3)), num_steps=1)
    expected = {Fraction(-1, 2): Fraction(1, 8), Fraction(1, 2): Fraction(3, 8), Fraction(-1): Fraction(1, 8)}
    law = run.snapshots[1].map(lambda at: at.average[0])
    assert dict(law.items()) == {**expected, Fraction(0): Fraction(3, 8)}


def test_two_point_noise_has_mean_zero_and_its_variance() -> None:
    noise = two_point_noise(vector(10), Fraction(100))
    assert noise.mean(lambda value: value[0]) == 0
    assert opposite_run(noise=noise).sigma2 == 1


def test_nobody_selected_leaves_the_model_where_it_is() -> None:
    run = opposite_run(select=lambda _: Law.certain(()), weigh=lambda chosen: (), initial=vector(3))
    assert {at.average for at in run.snapshots[2]} == {vector(3)}


def moved(run, step, client, w, noise):
    sums = zip(w, run.federation.gradient(client, w), noise, strict=True)
    return tuple(x - run.step_size(step) * (g + e) for x, g, e in sums)


def every_path(run, number, model, probability):
    """Yield (step, probability, averaged model) of all paths from a round's start, all copies drawing together."""
    first = number * run.local_steps
    for chosen, chance in run.select(model).items():
        coefficients = run.weigh(chosen)
        paths = [(probability * chance, (model,) * len(chosen))]
        for step in range(first, min(first + run.local_steps, run.num_steps)):
            after = []
            for before, local in paths:
                for draws in itertools.product(run.noise.items(), repeat=len(chosen)):
                    copies = zip(chosen, local, draws, strict=True)
                    models = tuple(moved(run, step, k, w, noise) for k, w, (noise, _) in copies)
                    after.append((before * math.prod(p for _, p in draws), models))
            paths = after
            for at, local in paths:
                average = combination(coefficients, local)
                yield step + 1, at, average
                if step + 1 == first + run.local_steps:
                    yield from every_path(run, number + 1, average, at)


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32))
def test_the_followed_law_is_that_of_all_paths_one_by_one(seed: int) -> None:
    run = draw_run(np.random.default_rng(seed), laws=WEIGHTED_LAWS).run
    laws = [Law.certain(run.initial)] + [None] * run.num_steps
    paths = list(every_path(run, 0, run.initial, Fraction(1)))
    for step in range(1, run.num_steps + 1):
        laws[step] = Law((average, probability) for at, probability, average in paths if at == step)
    assert [snapshot.map(lambda at: at.average) for snapshot in run.snapshots] == laws


def test_a_round_has_used_the_step_sizes_since_its_start() -> None:
    run = opposite_run(local_steps=3, num_steps=5, step_size=lambda t: Fraction(1, t + 1))
    # 0, 1, 1 + 1/2; in the second round 0, 1/4, 1/4 + 1/5.
    assert [elapsed(run, step) for step in range(6)] == [0, 1, Fraction(3, 2), 0, Fraction(1, 4), Fraction(9, 20)]
