"""Bundles of replicates change nothing but the time they take."""

import pytest

import fedtheory as ft

# One thread takes 200 replicates in bundles of 3 (the last has 2), four take each on its own.
MANY = 200


def run(num_replicates, num_threads, progress=None):
    fed = ft.QuadraticFederation([1.0, 2.0], [[0.0], [1.0]], [0.5, 0.5])
    return ft.fedavg(
        fed, ft.selection.Proportional(1), num_rounds=3, step_size=0.1, gradient_noise=1.0, rng=5,
        num_replicates=num_replicates, num_threads=num_threads, progress=progress,
    )  # fmt: skip


def test_bundles_of_replicates_give_the_bits_of_single_ones_in_the_order_of_their_seeds():
    assert run(MANY, 1).gap.tobytes() == run(MANY, 4).gap.tobytes()
    assert run(MANY, 1).gap[:5].tobytes() == run(5, 1).gap.tobytes()


@pytest.mark.parametrize(("num_replicates", "num_threads"), [(1, 1), (7, 2), (MANY, 1), (MANY, 4)])
def test_progress_counts_every_replicate_up_to_the_last(num_replicates, num_threads):
    counted: list[int] = []
    run(num_replicates, num_threads, counted.append)
    assert counted == sorted(set(counted))
    assert counted[-1] == num_replicates
    assert len(counted) >= min(num_replicates, 64)
