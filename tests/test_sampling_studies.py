"""Independent computations for the studies of client sampling, and wrong results that they detect."""

import dataclasses
import itertools
from typing import Any

import _sampling_probabilities as laws
import _sampling_runs as runs
import _tuned_sampling
import numpy as np
import pytest
from _experiments import part

import fedtheory as ft
from fedtheory import study
from fedtheory.sampling import optimal_probabilities
from fedtheory.sampling.correlated import IndependentSampling
from fedtheory.sampling.probability_matrices import estimator_variance
from tests.quick_studies import loaded, stored_data
from tests.test_studies import failing


@pytest.fixture(scope="module")
def convergence() -> study.Study:
    return loaded("optimal_sampling_convergence")


def small(found: study.Study, **changes: Any) -> Any:
    return type(found.quick)(**{**vars(found.quick), **changes})


@pytest.mark.parametrize("problem", ["quadratics", "wells"])
@pytest.mark.parametrize("method", ["DSGD", "FedAvg"])
def test_updates_computed_beside_the_engine_are_those_of_the_engine(convergence, problem, method):
    config = small(convergence, gradient_noise=0.0, num_replicates=2)
    setting = runs._setting(config, problem, method)
    step = setting.longest_step(0.2)
    run = ft.fedavg(
        setting.fed, ft.selection.Full(), num_rounds=1, local_steps=setting.local_steps, initial=setting.initial,
        step_size=setting.local_step_size(step), server_step_size=setting.server_step_size, record=("models",),
    )  # fmt: skip
    updates = runs._updates(setting, step, run.models[:, 0], np.random.default_rng(0))
    moved = setting.server_step_size * setting.fed.weights @ updates[0]
    np.testing.assert_allclose(run.models[0, 0] - run.models[0, 1], moved, rtol=1e-10, atol=1e-13)


@pytest.mark.slow
def test_wrong_runs_bounds_and_variances_are_caught(convergence):
    whole = stored_data(convergence)
    data, drawn = (part(whole, name) for name in ("runs", "laws"))

    def failing_runs(changed: Any) -> set[str]:
        return {name for name, check in runs.checks_of_runs(changed).items() if not check.holds}

    def failing_laws(changed: Any) -> set[str]:
        return {name for name, check in laws.checks_of_laws(changed).items() if not check.holds}

    assert failing(convergence, whole) == failing_runs(data) == failing_laws(drawn) == set()
    wrong = data.assign(exact_third=1.3 * data["exact_third"])
    assert failing_runs(wrong) == {"full and uniform agree with their exact expectation"}
    assert "the bounds lie above the measurements" in failing_runs(data.assign(bound=data["bound"] / 2))
    swapped = data.assign_coords(
        strategy=["full", "full, longest steps", "OCS", "uniform", "AOCS", "OCS, longest steps"]
    )
    assert {"AOCS is OCS, round by round", "with equal steps OCS ends between full and uniform"} <= failing_runs(
        swapped
    )
    short = data.assign(needed_gamma=1.5 * data["needed_gamma"])
    assert failing_runs(short) == {"the longest steps of OCS are ones that the theorem admits"}
    assert "the bounds lie above the measurements" in failing_runs(data.assign(nearest=data["nearest"] / 2))
    apart = data.assign(from_ocs=data["from_ocs"] + 1e-5)  # in a round that is not recorded
    assert failing_runs(apart) == {"AOCS is OCS, round by round"}
    bits = data["reached_bits"]
    dear = data.assign(reached_bits=bits.where(data["strategy"] != "OCS, longest steps", 5 * bits))
    assert failing_runs(dear) == {"with the longest steps OCS needs fewer bits than uniform and full"}
    assert failing_laws(drawn.assign(sign_ratio=0.9 * drawn["sign_ratio"])) == {
        "the mean over all signs is the independent variance"
    }
    exchanged = drawn.assign_coords(sampling=drawn["sampling"].values[::-1])
    assert "the best law is never above independent and systematic sampling" in failing_laws(exchanged)


def test_systematic_sampling_has_its_probabilities_and_a_fixed_size():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = int(rng.integers(2, 10))
        m = int(rng.integers(1, n))
        p = optimal_probabilities(rng.lognormal(0, 1, n), m)
        law = laws.systematic(p)
        np.testing.assert_allclose(law.matrix.diagonal(), p, atol=1e-12)
        assert set(law.members.sum(axis=1)[law.probabilities > 1e-12]) == {m}


def test_the_best_law_keeps_its_probabilities_and_no_law_is_better():
    rng = np.random.default_rng(1)
    for _ in range(10):
        updates = rng.normal(size=(5, 3))
        p = optimal_probabilities(np.linalg.norm(updates, axis=1), 2)
        best = laws.best(p, updates)
        np.testing.assert_allclose(best.matrix.diagonal(), p, atol=1e-7)
        least = estimator_variance(best.matrix, updates)
        for other in (IndependentSampling(p), laws.systematic(p)):
            assert least <= estimator_variance(other.matrix, updates) * (1 + 1e-7)


def test_sign_ratios_are_variances_of_updates_with_flipped_signs(convergence):
    config = convergence.quick
    updates = laws.updates(config, 0.9, 0)
    matrices, independent = laws.matrices_of(config, updates)
    signs = [np.array([1.0, *rest]) for rest in itertools.product([1.0, -1.0], repeat=config.drawn_clients - 1)]
    flipped = [estimator_variance(matrices[0], sign[:, None] * updates) / independent for sign in signs]
    np.testing.assert_allclose(np.sort(flipped), laws.sign_ratios(config)[0], rtol=1e-9, atol=1e-12)


def test_values_that_are_too_small_are_as_far_apart_as_values_that_are_too_large(monkeypatch):
    import _performance_calls as valuation

    from fedtheory.valuation.softmax import softmax_utilities

    monkeypatch.setattr(valuation, "by_products", lambda *game: softmax_utilities(*game) - 1)
    monkeypatch.setattr(valuation, "by_logits", lambda *game: softmax_utilities(*game) + 1)
    rows = valuation.coalitions(loaded("performance").quick.peers, study.silent)
    assert [row["agreement"] for row in rows] == pytest.approx([1e12] * len(rows), rel=1e-9)
    assert {row["peer"] for row in rows} == {peer for label, peer in valuation.GOALS if label == "Shapley"}


def test_wrong_bits_steps_and_accuracies_of_softmax_models_are_caught():
    found = loaded("optimal_sampling_softmax")
    data = stored_data(found)
    assert failing(found, data) == set()
    named = data["strategy"]
    swapped = data.assign_coords(strategy=["full", "OCS", "uniform", "AOCS"])
    assert "on unbalanced clients OCS ends above uniform" in failing(found, swapped)
    costly = data.assign(bits=data["bits"].where(named != "OCS", data["bits"] * 20))
    assert "on unbalanced clients OCS reaches the target with the fewest bits" in failing(found, costly)
    longer = data.assign(step_size=data["step_size"].where(named != "uniform", 4.0))
    assert failing(found, longer) == {"on unbalanced clients uniform takes no longer steps than OCS"}


def test_clients_of_the_softmax_study_are_unbalanced_and_batches_fit():
    found = loaded("optimal_sampling_softmax")
    make = _tuned_sampling._federation
    counts = [make(found.config, kind, np.random.SeedSequence(3)).sample_counts for kind in range(3)]
    assert [len(sizes) for sizes in counts] == [32, 32, 96]
    assert all(sizes.min() >= found.config.batch_size for sizes in counts)
    largest = [np.sort(sizes)[-8:].sum() / sizes.sum() for sizes in counts]
    # A quarter of the clients holds most of the samples, or about a quarter of them.
    assert largest[0] > 0.6
    assert largest[1] < 0.3
    with pytest.raises(ValueError, match="powers must be 1 to 3 and as many as num_clients"):
        found.run(dataclasses.replace(found.quick, num_clients=(32, 96)), study.silent)
