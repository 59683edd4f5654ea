"""Power-of-Choice on FashionMNIST: the partition of the supplementary code, and stored runs."""

import dataclasses
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

from tests.quick_studies import loaded

STUDY = loaded("power_of_choice_fmnist")
RUNS, DIGITS = (sys.modules[name] for name in ("_fmnist", "_fmnist_digits"))
SMALL = dataclasses.replace(STUDY.quick.size, num_rounds=2)


def dealt_by_the_recipe(labels: Any, num_clients: int, concentration: float, most: float) -> list[list[int]]:
    """Deal class after class with lists of rows; who has as many rows as ``most`` gets nothing of the class."""
    numbers = np.random.RandomState(2020)
    while True:
        clients: list[list[int]] = [[] for _ in range(num_clients)]
        for label in range(10):
            rows = [row for row, found in enumerate(labels) if found == label]
            numbers.shuffle(rows)
            shares = numbers.dirichlet([concentration] * num_clients)
            shares = np.array([s if len(c) < most else 0.0 for s, c in zip(shares, clients, strict=True)])
            shares /= shares.sum()
            ends = [int(part * len(rows)) for part in np.cumsum(shares)[:-1]] + [len(rows)]
            for client, begin, end in zip(clients, [0, *ends[:-1]], ends, strict=True):
                client.extend(rows[begin:end])
        if min(map(len, clients)) >= 10:
            return clients


# Of 500 samples the first draw leaves some client with fewer than ten, of 3,000 none.
@pytest.mark.parametrize("num_samples", [3_000, 500])
def test_the_partition_of_the_code_deals_as_its_recipe_does_with_lists(num_samples: int) -> None:
    labels = np.random.default_rng(0).integers(10, size=num_samples)
    parts = RUNS._partition_of_the_code(labels, 20, 0.3)
    recipe = dealt_by_the_recipe(labels, 20, 0.3, num_samples / 20)
    assert [part.tolist() for part in parts] == [sorted(rows) for rows in recipe]
    assert sorted(np.concatenate(parts)) == list(range(num_samples))


def test_a_kept_run_is_read_and_not_trained_again(tmp_path: Path) -> None:
    kept = sys.modules["_experiments"].kept

    def keep(**changes: Any) -> Any:
        return kept(str(tmp_path), "base", counted, 3, **{"size": SMALL, "calls": str(tmp_path / "calls")} | changes)

    first, again = keep(), keep()
    assert float(first["found"]) == float(again["found"]) == SMALL.num_rounds + 3
    assert len((tmp_path / "calls").read_text()) == 1
    # Another argument is another run, which the folder of this one does not answer.
    assert float(keep(size=dataclasses.replace(SMALL, num_rounds=4))["found"]) == 4 + 3
    assert len((tmp_path / "calls").read_text()) == 2


def counted(size: Any, calls: str, seed: int) -> xarray.Dataset:
    with Path(calls).open("a") as file:
        file.write(".")
    return xarray.Dataset({"found": float(size.num_rounds + seed)})


def test_runs_on_other_partitions_are_not_compared() -> None:
    keys = ("base", 0.3, "rand, m = 2"), ("base", 0.3, "pow-d, d = 4")
    seeds, names = [0, 1, 0], [keys[0][2], keys[0][2], keys[1][2]]
    runs = RUNS.Runs(
        xarray.Dataset(
            {
                "setting": ("run", ["base"] * 3), "concentration": ("run", [0.3] * 3), "seed": ("run", seeds),
                "strategy": ("run", names), "accuracy": (("run", "round"), np.ones((3, 2))),
            },
            coords={"round": [0, 1]}, attrs={"target": 60.0},
        )
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"the same partitions on both sides, got \[0\] and \[0, 1\]"):
        runs.differences(keys[1], keys[0])


@pytest.mark.parametrize("num_classes", [3, 10])
def test_active_federated_learning_starts_at_the_loss_of_a_model_of_zeros(num_classes: int) -> None:
    strategies = DIGITS.cost_strategies(STUDY.config, np.ones(12, int), num_classes)
    assert strategies["afl"].initial_loss == pytest.approx(np.log(num_classes), rel=1e-12)
    # Plain losses: no client's count of samples matters, and one of three clients is drawn uniformly.
    assert strategies["afl, plain losses"].sample_counts == (1,) * 12
    assert strategies["afl, plain losses"].explored == 1 / 3
