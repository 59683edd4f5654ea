"""GreedyFed on FashionMNIST: the paper's numbers, and paired comparisons."""

import sys
from collections import Counter
from typing import Any

import numpy as np
import pytest
import xarray

from tests.quick_studies import loaded

loaded("greedyfed_tables")
FASHION = sys.modules["_greedyfed_fashion"]
CURVE = [[10, 20, 30, 40, 80], [10, 22, 32, 42, 84]]
ROUNDS = [0, 3, 5, 7, 8]  # T = 150, 250, 350 and 400 are 3/8, 5/8, 7/8 and all of the rounds


def data_of(accuracy: dict[tuple[str, str], Any]) -> xarray.Dataset:
    settings, variants = (list(dict.fromkeys(key[place] for key in accuracy)) for place in (0, 1))
    nothing = np.full((len(next(iter(accuracy.values()))), len(ROUNDS)), np.nan)
    found = np.array([[accuracy.get((s, v), nothing) for v in variants] for s in settings], dtype=float)
    return xarray.Dataset(
        {
            "accuracy": (("setting", "variant", "seed", "round"), found),
            "draws": ("kind", [493, 500, 7]),
            "shares": (("base", "client", "class"), np.array([np.eye(10), np.full((10, 10), 0.1)])),
        },
        coords={
            "setting": settings, "variant": variants, "round": ROUNDS, "base": ["one class", "as drawn"],
            "kind": ["equal shares of all", "one class", "other"],
        },
        attrs={"published": 1},
    )  # fmt: skip


def test_published_accuracies_add_up_by_algorithm_and_by_row() -> None:
    """Control sums of Tables I-IV, in hundredths of a percent."""
    means, deviations = Counter[str](), Counter[str]()
    for (_, algorithm), published in FASHION.FASHION.items():
        means[algorithm] += round(100 * published.mean)
        deviations[algorithm] += round(100 * published.deviation)
    assert list(means.values()) == [82725, 80036, 75972, 75537, 76081, 73102, 85641]
    assert list(deviations.values()) == [456, 2110, 5339, 5495, 4766, 5913, 355]


@pytest.mark.parametrize("choosing", [False, True])
def test_accuracies_over_five_seeds_are_not_compared_with_those_of_one(choosing: bool) -> None:
    one_seed = [CURVE[0], [np.nan] * 5]
    data = data_of({("as drawn", "GreedyFed, mean"): CURVE, ("as drawn", "FedAvg"): one_seed})
    entry = FASHION.entries(data)["alpha = 0.0001", "as drawn"]
    sentence = r"must be of the same seeds on both sides, got 2 of 2 and 1 of 2"
    with pytest.raises(ValueError, match=sentence):
        FASHION.lead(entry, "FedAvg", choosing=choosing)
    with pytest.raises(ValueError, match="must be of the same seeds"):
        FASHION.rows_of_fashion(data)
    # Nor is a variant of one seed chosen from among those of two.
    both = data_of({("as drawn", "GreedyFed, mean"): CURVE, ("as drawn", "GreedyFed, 0"): one_seed})
    with pytest.raises(ValueError, match=sentence):
        FASHION.best(FASHION.entries(both)["alpha = 0.0001", "as drawn"], "GreedyFed")
