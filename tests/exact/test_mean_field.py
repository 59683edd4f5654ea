"""The mean field of a run, against exact full participation and simulations with small steps."""

# mypy: allow-untyped-calls, disable-error-code="arg-type"

import numpy as np
import pytest

from fedtheory.datasets.quadratics import power_of_choice_quadratics
from fedtheory.engine.simulation import fedavg
from fedtheory.exact.mean_field import mean_field_gap
from fedtheory.exact.moments import expected_gap
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.selection.full import Full
from fedtheory.selection.power_of_choice import HalvingCandidates, PowerOfChoice
from fedtheory.selection.uniform import Uniform


def test_full_participation_is_its_own_mean_field():
    fed, start = power_of_choice_quadratics(6, 3, rng=2), np.ones(3)
    np.testing.assert_allclose(
        mean_field_gap(fed, Full(), 20, 2, 0.01, start), expected_gap(fed, Full(), 20, 2, 0.01, start), rtol=1e-12
    )


def test_full_matrices_give_the_same_as_their_diagonals():
    fed, start = power_of_choice_quadratics(6, 3, rng=2), np.ones(3)
    as_matrices = QuadraticFederation(fed.matrices, fed.centers, fed.weights)
    strategy = PowerOfChoice(2, 4)
    np.testing.assert_allclose(
        mean_field_gap(as_matrices, strategy, 20, 2, 0.01, start), mean_field_gap(fed, strategy, 20, 2, 0.01, start),
        rtol=1e-11,
    )  # fmt: skip


def test_the_mean_field_of_small_steps_predicts_the_simulated_error_within_a_few_percent():
    fed = power_of_choice_quadratics(30, 5, rng=1)
    strategy, options = PowerOfChoice(3, 9), {"num_rounds": 3000, "local_steps": 2, "step_size": 2e-4}
    predicted = mean_field_gap(fed, strategy, initial=np.zeros(5), **options)[-1]
    run = fedavg(fed, strategy, initial=np.zeros(5), num_replicates=20, num_threads=1, **options)
    assert abs(run.gap[:, -200:].mean() / predicted - 1) < 0.05
    assert abs(expected_gap(fed, Uniform(3), initial=np.zeros(5), **options)[-1] / predicted - 1) > 0.05  # another law


def test_a_schedule_of_candidates_is_followed_round_by_round():
    fed, start = power_of_choice_quadratics(8, 2, rng=4), np.zeros(2)
    schedule = HalvingCandidates(every=5)
    gaps = mean_field_gap(fed, PowerOfChoice(2, schedule), 10, 1, 0.01, start)
    np.testing.assert_array_equal(gaps[:6], mean_field_gap(fed, PowerOfChoice(2, 8), 5, 1, 0.01, start))
    assert gaps[-1] != mean_field_gap(fed, PowerOfChoice(2, 8), 10, 1, 0.01, start)[-1]


@pytest.mark.parametrize("full", [False, True])
def test_a_gap_beyond_all_doubles_is_infinite_from_then_on(full):
    fed = power_of_choice_quadratics(4, 2)
    fed = QuadraticFederation(fed.matrices, fed.centers, fed.weights) if full else fed
    gaps = mean_field_gap(fed, PowerOfChoice(2, 3), 5, 1, 1e120, np.ones(2))
    assert np.isfinite(gaps[:2]).all()
    assert np.isinf(gaps[3:]).all()
