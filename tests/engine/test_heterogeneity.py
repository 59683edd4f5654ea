"""Stragglers and privacy levels: counts, ranges, and what they make of a run."""

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.engine.heterogeneity import privacy_noise, straggler_steps


@pytest.mark.parametrize(("fraction", "slow"), [(0.0, 0), (0.5, 150), (0.9, 270), (1.0, 300)])
def test_at_most_the_given_fraction_is_slow_and_its_epochs_are_uniform(fraction: float, slow: int) -> None:
    steps = straggler_steps(300, fraction, 5, num_batches=5, rng=1)
    assert set(steps) <= {5, 10, 15, 20, 25}
    # a straggler draws all five epochs with probability 1/5
    short = int((steps < 25).sum())
    assert abs(short - 0.8 * slow) <= 5 * np.sqrt(0.16 * slow)


def test_privacy_levels_are_equally_spaced_in_random_order() -> None:
    levels = np.sqrt(privacy_noise(20, 0.1, rng=2))
    np.testing.assert_allclose(sorted(levels), np.arange(20) * 0.1 / 20, atol=1e-16)
    assert (np.diff(levels) < 0).any()


def test_a_client_returns_its_model_with_noise_of_its_own_level() -> None:
    """Both clients stand at their minimizer 0: what the server gets is half the noise of each, squared and added."""
    fed = ft.QuadraticFederation([1.0, 1.0], np.zeros((2, 3)), [0.5, 0.5])
    variances = privacy_noise(2, 6.0)
    run = ft.fedavg(
        fed, ft.selection.Full(), num_rounds=1, step_size=0.1, returned_noise=variances, num_replicates=4000,
        record=("models",),
    )  # fmt: skip
    found = run.models[:, 1].var()
    assert found == pytest.approx(variances.sum() / 4, rel=5 * np.sqrt(2 / 12_000))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: straggler_steps(3, 1.5, 2), r"fraction must be in \[0, 1\]"),
        (lambda: straggler_steps(3, 0.5, 0), "num_epochs must be at least 1"),
        (lambda: privacy_noise(3, -1.0), "sigma must be finite and at least 0"),
    ],
)
def test_impossible_fleets_are_refused(call, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        call()
