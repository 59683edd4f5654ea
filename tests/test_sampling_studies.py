"""Independent computations for the studies of client sampling, and wrong results that they detect."""

import itertools
from typing import Any

import _optimal_sampling as sampling
import numpy as np
import pytest

import fedtheory as ft
from fedtheory import study
from fedtheory.sampling import optimal_probabilities
from fedtheory.sampling.probability_matrices import estimator_variance
from tests.quick_studies import loaded


@pytest.fixture(scope="module")
def convergence() -> study.Study:
    return loaded("optimal_sampling_convergence")


def small(found: study.Study, **changes: Any) -> Any:
    return type(found.quick)(**{**vars(found.quick), **changes})


@pytest.mark.parametrize("problem", ["quadratics", "wells"])
@pytest.mark.parametrize("method", ["DSGD", "FedAvg"])
def test_updates_computed_beside_the_engine_are_those_of_the_engine(convergence, problem, method):
    config = small(convergence, gradient_noise=0.0, num_replicates=2)
    setting = sampling._setting(config, problem, method)
    step = setting.longest_step(0.2)
    run = ft.fedavg(
        setting.fed, ft.selection.Full(), num_rounds=1, local_steps=setting.local_steps, initial=setting.initial,
        step_size=setting.local_step_size(step), server_step_size=setting.server_step_size, record=("models",),
    )  # fmt: skip
    updates = sampling._updates(setting, step, run.models[:, 0], np.random.default_rng(0))
    moved = setting.server_step_size * setting.fed.weights @ updates[0]
    np.testing.assert_allclose(run.models[0, 0] - run.models[0, 1], moved, rtol=1e-10, atol=1e-13)


def test_systematic_sampling_has_its_probabilities_and_a_fixed_size():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = int(rng.integers(2, 10))
        m = int(rng.integers(1, n))
        p = optimal_probabilities(rng.lognormal(0, 1, n), m)
        matrix = sampling.systematic(p)
        np.testing.assert_allclose(matrix.diagonal(), p, atol=1e-12)
        # The mean square of the size is that of its mean m.
        assert matrix.sum() == pytest.approx(m**2, rel=1e-12)


def test_the_best_law_keeps_its_probabilities_and_no_law_is_better():
    rng = np.random.default_rng(1)
    for _ in range(10):
        updates = rng.normal(size=(5, 3))
        p = optimal_probabilities(np.linalg.norm(updates, axis=1), 2)
        best = sampling.best(p, updates)
        np.testing.assert_allclose(best.diagonal(), p, atol=1e-7)
        least = estimator_variance(best, updates)
        independent = np.outer(p, p) * (1 - np.eye(5)) + np.diag(p)
        for other in (independent, sampling.systematic(p)):
            assert least <= estimator_variance(other, updates) * (1 + 1e-7)


def test_sign_ratios_are_variances_of_updates_with_flipped_signs(convergence):
    config = convergence.quick
    updates = sampling.updates(config, 0.9, 0)
    matrices, independent = sampling.matrices_of(config, updates)
    signs = [np.array([1.0, *rest]) for rest in itertools.product([1.0, -1.0], repeat=config.drawn_clients - 1)]
    flipped = [estimator_variance(matrices[0], sign[:, None] * updates) / independent for sign in signs]
    np.testing.assert_allclose(np.sort(flipped), sampling.sign_ratios(config)[0], rtol=1e-9, atol=1e-12)
