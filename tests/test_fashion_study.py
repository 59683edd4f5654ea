"""GreedyFed on FashionMNIST: the paper's numbers, the best of the variants, and runs that are kept."""

import dataclasses
import inspect
from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import xarray

import fedtheory as ft
from fedtheory.sweeps import run as running
from tests.quick_studies import loaded


@pytest.fixture(scope="module")
def fashion() -> Any:
    return loaded("greedyfed_fashion")


def inside(found: Any) -> dict[str, Any]:
    """What the module of the study knows."""
    return inspect.unwrap(found.run).__globals__


def data_of(accuracy: dict[tuple[str, str], Any], rounds: list[int]) -> xarray.Dataset:
    settings, variants = (list(dict.fromkeys(key[place] for key in accuracy)) for place in (0, 1))
    found = np.array([[accuracy[s, v] for v in variants] for s in settings], dtype=float)
    return xarray.Dataset(
        {
            "accuracy": (("setting", "variant", "seed", "round"), found),
            "draws": ("kind", [493, 500, 7]),
            "shares": (("base", "client", "class"), np.array([np.eye(10), np.full((10, 10), 0.1)])),
        },
        coords={
            "setting": settings, "variant": variants, "round": rounds, "base": ["one class", "as drawn"],
            "kind": ["all classes alike", "one class", "other"],
        },
        attrs={"data": "fashion-mnist"},
    )  # fmt: skip


def test_published_accuracies_add_up_by_algorithm(fashion: Any) -> None:
    """Control sums of the FashionMNIST columns of Tables I-IV, in hundredths of a percent."""
    means, deviations = Counter[str](), Counter[str]()
    for (_, algorithm), published in inside(fashion)["FASHION"].items():
        means[algorithm] += round(100 * published.mean)
        deviations[algorithm] += round(100 * published.deviation)
    assert list(means.values()) == [82725, 80036, 75972, 75537, 76081, 73102, 85641]
    assert list(deviations.values()) == [456, 2110, 5339, 5495, 4766, 5913, 355]


def test_the_best_variant_is_compared_and_what_choosing_it_is_worth_is_told(fashion: Any) -> None:
    # Two seeds at rounds 0, 3, 5, 7, 8: T = 150, 250, 350 and 400 are 3/8, 5/8, 7/8 and all of the rounds.
    mean, other = [[10, 20, 30, 40, 80], [10, 22, 32, 42, 84]], [[10, 20, 30, 40, 85], [10, 22, 32, 42, 85]]
    data = data_of({("as drawn", "GreedyFed, mean"): mean, ("as drawn", "GreedyFed, 0.5"): other}, [0, 3, 5, 7, 8])
    rows = {row["entry"]: row for row in fashion.table(data).rows}
    assert [rows[entry]["mean [%]"] for entry in ("T = 150", "T = 250", "T = 350", "alpha = 0.0001")] == [
        21,
        31,
        41,
        85,
    ]
    last = rows["alpha = 0.0001"]
    assert (last["best variant"], last["the best is worth"], last["std"]) == ("0.5", 3.0, 0.0)
    # The paper has 85.18 +- 0.33.
    assert (last["paper [%]"], last["within its std"]) == (85.18, "yes")
    assert last["difference"] == pytest.approx(-0.18)
    assert rows["T = 150"]["within its std"] == "no"


def test_one_seed_has_no_deviation(fashion: Any) -> None:
    data = data_of({("one class", "FedAvg"): [[10, 20, 30, 40, 80]]}, [0, 3, 5, 7, 8])
    assert all(np.isnan(row["std"]) for row in fashion.table(data).rows)
    assert {row["clients"] for row in fashion.table(data).rows} == {"one class"}


def test_wrong_draws_shares_and_accuracies_are_caught(fashion: Any) -> None:
    curve = [[10, 20, 30, 40, 80]]
    data = data_of({("one class", "FedAvg"): curve, ("as drawn", "FedAvg"): curve}, [0, 3, 5, 7, 8])

    def failing(changed: Any) -> set[str]:
        return {name for name, check in fashion.checks(changed).items() if not check.holds}

    assert failing(data) == set()
    assert failing(data.assign(draws=("kind", [330, 660, 10]))) == {
        "draws have all classes alike as often as the law says"
    }
    assert failing(data.assign(shares=data["shares"] / 2)) == {"without the underflow clients have one class"}
    assert failing(data.assign(accuracy=data["accuracy"].clip(max=15))) == {"every algorithm learns"}
    assert "no run diverged" in failing(data.assign(accuracy=data["accuracy"].where(data["round"] < 5)))


def test_kept_runs_are_not_run_again_and_unknown_words_are_refused(fashion: Any, tmp_path, monkeypatch) -> None:
    config = dataclasses.replace(
        fashion.quick, variants=("FedAvg",), settings=("as drawn",), num_rounds=3, runs=str(tmp_path / "runs")
    )
    first = fashion.run(config, ft.study.silent)
    kept = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("data.nc"))
    assert len(kept) == 2  # one for each seed

    def attempt(*_: Any) -> Any:
        raise AssertionError

    with monkeypatch.context() as patch:
        patch.setattr(running, "_attempt", attempt)
        again = fashion.run(config, ft.study.silent)
    np.testing.assert_array_equal(first["accuracy"], again["accuracy"])
    with pytest.raises(ValueError, match=r"variants must be among GreedyFed, mean; .*, got FedSGD"):
        fashion.run(dataclasses.replace(config, variants=("FedSGD",)), ft.study.silent)
    with pytest.raises(ValueError, match=r"settings must be among one class; as drawn; .*, got alpha = 2"):
        fashion.run(dataclasses.replace(config, settings=("alpha = 2",)), ft.study.silent)
    with pytest.raises(ValueError, match=r"data must be digits, fashion-mnist, or four IDX files: .*, got cifar"):
        fashion.run(dataclasses.replace(config, data=("cifar",), runs=None), ft.study.silent)


def test_all_variants_are_run_where_choosing_is_asked_and_centralized_training_once(fashion: Any, monkeypatch) -> None:
    config = dataclasses.replace(
        fashion.quick, variants=("FedAvg", "Centralized"), settings=("as drawn", "as drawn, sigma = 0.1"),
        choices=("as drawn",), once=("as drawn, sigma = 0.1",), num_seeds=2, num_rounds=3,
    )  # fmt: skip
    trained = []

    def train(common: Any, _: Any, how: Any, name: str, *__: Any) -> Any:
        trained.append((name, how.sigma, common.averaging, common.proximal_weight))
        return SimpleNamespace(rounds=np.array([0, 3]))

    inner = inside(fashion)["accuracy_curve"].__globals__
    monkeypatch.setitem(inner, "train", train)
    monkeypatch.setitem(inner, "accuracies", lambda _: np.array([10.0, 50.0 + len(trained)]))
    data = fashion.run(config, ft.study.silent)
    assert trained.count(("Centralized", 0.0, "mean", 0.0)) == 2
    assert [one for one in trained if one[1] == 0.1] == 2 * [("FedAvg", 0.1, "mean", 0.0)]
    # Two seeds of each variant as drawn, and two of FedAvg with noise.
    wanted = Counter({name: 2 * len(own) for name, own in inside(fashion)["VARIANTS"].items()})
    assert Counter(name for name, *_ in trained) == wanted + Counter({"FedAvg": 2})
    central = data["accuracy"].sel(variant="Centralized", seed=0)
    assert (
        central.sel(setting="as drawn").values.tolist() == central.sel(setting="as drawn, sigma = 0.1").values.tolist()
    )
    # What was not run is not a number, and is neither chosen nor taken for a run that diverged.
    assert int(data["accuracy"].notnull().all("round").sum()) == 2 * (15 + 1) + 1
    rows = {(row["entry"], row["algorithm"]): row for row in fashion.table(data).rows}
    assert (rows["alpha = 0.0001", "FedProx"]["of"], rows["sigma = 0.1", "FedAvg"]["of"]) == (4, 1)
    assert [rows["sigma = 0.1", name]["seeds"] for name in ("FedAvg", "Centralized")] == [2, 1]
    assert ("sigma = 0.1", "FedProx") not in rows
    assert fashion.checks(data)["no run diverged"].holds


def test_variants_and_settings_of_the_tables_are_the_papers(fashion: Any) -> None:
    variants, settings = inside(fashion)["VARIANTS"], inside(fashion)["SETTINGS"]
    assert list(variants["GreedyFed"]) == ["mean", "0", "0.1", "0.5", "0.9"]
    assert {own["proximal_weight"] for own in variants["FedProx"].values()} == {0.01, 0.1, 1.0, 10.0}
    assert len(settings) == 4 + 2 * 4
    stragglers = settings["as drawn, x = 0.9"][1]
    assert (stragglers.stragglers, stragglers.sigma, stragglers.concentration) == (0.9, 0.0, 1e-4)
