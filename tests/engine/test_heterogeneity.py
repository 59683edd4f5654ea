"""Stragglers and privacy levels: counts, ranges, and effects on a run."""

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.engine.heterogeneity import Stragglers, privacy_noise


@pytest.mark.parametrize("drawn", ["once", "each round"])
@pytest.mark.parametrize(("fraction", "slow"), [(0.0, 0), (0.5, 150), (0.9, 270), (1.0, 300)])
def test_at_most_the_given_fraction_is_slow_and_its_epochs_are_uniform(drawn: str, fraction: float, slow: int) -> None:
    rows = Stragglers(fraction, 5, num_batches=5, drawn=drawn, seed=1).local_steps(300, 20)
    assert set(rows.ravel()) <= {5, 10, 15, 20, 25}
    # a straggler draws all five epochs with probability 1/5
    short = (np.atleast_2d(rows) < 25).sum(axis=1)
    assert (short <= slow).all()
    assert (abs(short - 0.8 * slow) <= 5 * np.sqrt(0.16 * slow)).all()


def test_stragglers_drawn_in_each_round_are_others_than_in_the_rounds_before() -> None:
    num_clients, num_rounds, epochs = 40, 600, 4
    rows = Stragglers(0.5, epochs, drawn="each round", seed=2).local_steps(num_clients, num_rounds)
    assert rows.shape == (num_rounds, num_clients)
    short = rows < epochs
    # Slow with probability x (1 - 1/E) in a round, and as often where it was slow in the round before.
    p = 0.5 * (1 - 1 / epochs)
    assert (abs(short.mean(axis=0) - p) < 5 * np.sqrt(p * (1 - p) / num_rounds)).all()
    again = short[1:][short[:-1]].mean()
    assert abs(again - p) < 5 * np.sqrt(p * (1 - p) / short[:-1].sum())


def steps_seen(drawn: str) -> tuple[ft.engine.Trajectory, list[int]]:
    """A run of one straggler, whom each local step takes half of the way to 0, and its steps in every round."""
    fed = ft.QuadraticFederation([1.0], [[0.0]], [1.0])
    run = ft.fedavg(
        fed, ft.selection.Full(), num_rounds=300, local_steps=Stragglers(1.0, 3, drawn=drawn, seed=3),
        step_size=0.5, initial=[1.0], record=("models",),
    )  # fmt: skip
    return run, np.rint(-np.diff(np.log2(run.models[0, :, 0]))).astype(int).tolist()


def test_a_straggler_is_as_slow_in_every_round_or_draws_anew_in_each() -> None:
    run, steps = steps_seen("once")
    assert len(set(steps)) == 1
    assert run.config["local_steps"] == "Stragglers(fraction=1.0, num_epochs=3, num_batches=1, drawn='once', seed=3)"
    run, steps = steps_seen("each round")
    for epochs in (1, 2, 3):
        assert abs(steps.count(epochs) / 300 - 1 / 3) < 5 * np.sqrt(2 / 9 / 300)
    assert "drawn='each round'" in run.config["local_steps"]


def test_privacy_levels_are_equally_spaced_in_random_order() -> None:
    levels = np.sqrt(privacy_noise(20, 0.1, rng=2))
    np.testing.assert_allclose(sorted(levels), np.arange(20) * 0.1 / 20, atol=1e-16)
    assert (np.diff(levels) < 0).any()
