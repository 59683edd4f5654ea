"""Runs followed along every path, against hand computation, moment recursions and sampling."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.claims._instances import constant_law, draw_run, opposite_clients
from fedtheory.exact.moments import expected_gap
from fedtheory.law import Law
from fedtheory.sampling.selections import uniform_subsets, with_replacement
from fedtheory.selection.proportional import Proportional
from fedtheory.selection.uniform import Uniform
from fedtheory.verification.rational import vector
from fedtheory.verification.runs import RationalRun, expected, no_noise, two_point_noise

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
    assert expected(run.snapshots[2], lambda at: run.federation.gap(at.average)) == Fraction(49, 512)


def test_copies_of_a_client_have_noise_of_their_own() -> None:
    # Two copies of either client, one step from 0 with noise +-1: the noise averages to 0 or +-1.
    noise = two_point_noise(vector(1))
    run = opposite_run(select=lambda _: uniform_subsets(1, 1), noise=noise, num_steps=1)
    twice = replace(run, select=lambda _: Law.certain((0, 0)))
    variance = [
        expected(r.snapshots[1], lambda at: at.average[0] ** 2)
        - expected(r.snapshots[1], lambda at: at.average[0]) ** 2
        for r in (run, twice)
    ]
    # eta^2 sigma^2 / m
    assert variance == [Fraction(1, 16), Fraction(1, 32)]


def test_two_point_noise_has_mean_zero_and_its_variance() -> None:
    noise = two_point_noise(vector(10), Fraction(100))
    assert sum(chance * value[0] for chance, value in noise) == 0
    assert opposite_run(noise=noise).sigma2 == 1


def test_models_and_deltas_differ_when_coefficients_do_not_sum_to_one() -> None:
    # Weights 1/2 for the one client drawn: the model 1/4 becomes 1/8; from 0 the change is the same 1/8; later not.
    halves = {"weigh": lambda chosen: vector("1/2"), "local_steps": 1, "num_steps": 2}
    models, deltas = (opposite_run(aggregate=how, **halves) for how in ("models", "deltas"))
    assert {abs(at.average[0]) for at in models.snapshots[1]} == {Fraction(1, 8)}
    assert {abs(at.average[0]) for at in deltas.snapshots[1]} == {Fraction(1, 8)}
    # towards +1 from 1/8: the model is 1/8 + 7/32 = 11/32, half of it 11/64; the change is 7/32, half of it 7/64.
    assert max(at.average[0] for at in models.snapshots[2]) == Fraction(11, 64)
    assert max(at.average[0] for at in deltas.snapshots[2]) == Fraction(1, 8) + Fraction(7, 64)


def test_nobody_selected_leaves_the_model_where_it_is() -> None:
    run = opposite_run(select=lambda _: Law.certain(()), weigh=lambda chosen: (), initial=vector(3))
    assert {at.average for at in run.snapshots[2]} == {vector(3)}


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32))
def test_probabilities_sum_to_one_at_every_step(seed: int) -> None:
    run = draw_run(np.random.default_rng(seed)).run
    assert {expected(snapshots, lambda _: 1) for snapshots in run.snapshots} == {1}
    assert len(run.snapshots) == run.num_steps + 1


@pytest.mark.parametrize("law", ["proportional", "uniform"])
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32))
def test_expected_gaps_agree_with_the_moment_recursion(law: str, seed: int) -> None:
    drawn = draw_run(np.random.default_rng(seed), laws=(law,))
    fed = drawn.run.federation.rounded()
    # The recursion spreads the noise evenly over the coordinates, the run puts it into the first.
    run = drawn.run if fed.dim == 1 else replace(drawn.run, noise=no_noise(fed.dim))
    num_rounds = run.num_steps // run.local_steps
    exact = [
        float(expected(run.snapshots[t * run.local_steps], lambda at: run.federation.gap(at.average)))
        for t in range(num_rounds + 1)
    ]
    sizes = [float(run.step_size(t)) for t in range(num_rounds * run.local_steps)]
    gaps = expected_gap(
        fed,
        STRATEGIES[law](drawn.num_selected),
        num_rounds,
        run.local_steps,
        sizes if num_rounds else 1.0,
        [float(x) for x in run.initial],
        float(run.sigma2),
    )
    # Gaps are at most a few hundred: the tolerance is a thousand roundings of that.
    np.testing.assert_allclose(gaps, exact, rtol=1e-11, atol=1e-11)
