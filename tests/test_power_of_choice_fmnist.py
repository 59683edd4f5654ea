"""Power-of-Choice on images of clothes: the partition that the supplementary code draws, and runs that are kept."""

import dataclasses
import hashlib
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fedtheory as ft
from tests.quick_studies import loaded

STUDY = loaded("power_of_choice_fmnist")
INSIDE = inspect.unwrap(inspect.unwrap(STUDY.run).__globals__["kept"]).__globals__
SMALL = dataclasses.replace(STUDY.quick.size, num_rounds=2)
RAND = ft.selection.Proportional(2)


def kept(folder: Path, strategy: Any = RAND, size: Any = SMALL, seed: int = 0, **changes: Any) -> Any:
    return INSIDE["kept"](str(folder), INSIDE["Setting"]("any name", **changes), size, 0.3, strategy, seed)


@pytest.fixture
def trainings(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is asked for in the place of a training."""
    asked: list[Any] = []

    def train(*arguments: Any) -> dict[str, Any]:
        asked.append(arguments)
        return {"accuracy": np.array([10.0, 20.0 + len(asked)])}

    monkeypatch.setitem(INSIDE, "trained", train)
    return asked


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
    parts = INSIDE["_partition_of_the_code"](labels, 20, 0.3)
    recipe = dealt_by_the_recipe(labels, 20, 0.3, num_samples / 20)
    assert [part.tolist() for part in parts] == [sorted(rows) for rows in recipe]
    assert sorted(np.concatenate(parts)) == list(range(num_samples))


def test_the_partition_of_the_code_has_one_seed_and_the_others_have_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(0)
    samples = draw.random((1_000, 3)), draw.integers(10, size=1_000)
    monkeypatch.setitem(INSIDE, "_images", lambda _: (samples, samples))
    size = dataclasses.replace(SMALL, images="drawn at random")

    def clients(**changes: Any) -> list[list[int]]:
        federations = [INSIDE["_federation"](INSIDE["Setting"]("", **changes), size, 0.3, k, RAND) for k in (0, 1)]
        return [fed.sample_counts.tolist() for fed in federations]

    first, second = clients(one_partition=True)
    assert first == second == [len(part) for part in INSIDE["_partition_of_the_code"](samples[1], 20, 0.3)]
    first, second = clients()
    assert first != second


def test_a_kept_run_is_read_and_not_trained_again(tmp_path: Path, trainings: list[Any]) -> None:
    first, again = kept(tmp_path), kept(tmp_path)
    np.testing.assert_array_equal(first["accuracy"], again["accuracy"])
    assert len(trainings) == 1
    assert [file.suffixes for file in tmp_path.iterdir()] == [[".npz"]]


def test_a_run_is_kept_under_what_differs_from_the_published_setting(tmp_path: Path, trainings: list[Any]) -> None:
    """Written out: a setting that is thought of later must not rename the runs that are kept."""
    size = (
        "Size(images='digits', num_clients=20, hidden=(20, 12), num_rounds=2, local_steps=10, batch_size=16, "
        "step_size=0.1, halve_at=(20, 30), l2=0.0001, record_every=2)"
    )
    for changes in ({}, {"step_factor": 0.1}, {"one_pass": True, "step_factor": 0.1}):
        kept(tmp_path, **changes)
    names = {
        hashlib.sha256(f"({differs}, {size}, 0.3, Proportional(num_selected=2), 0)".encode()).hexdigest()[:16]
        for differs in ("{}", "{'step_factor': 0.1}", "{'step_factor': 0.1, 'one_pass': True}")
    }
    assert {file.stem for file in tmp_path.iterdir()} == names
    assert len(trainings) == 3


def test_whatever_changes_a_run_gives_it_a_file_of_its_own(tmp_path: Path, trainings: list[Any]) -> None:
    other: dict[type, Any] = {float: 0.25, bool: None, int: 7, str: "step", type(None): 3}
    published = INSIDE["Setting"]("")
    for field in dataclasses.fields(published):
        value = getattr(published, field.name)
        if field.name != "name":
            kept(tmp_path, **{field.name: not value if isinstance(value, bool) else other[type(value)]})
    own = len(dataclasses.fields(published)) - 1
    kept(tmp_path)
    kept(tmp_path, seed=1)
    kept(tmp_path, strategy=ft.selection.Proportional(3))
    kept(tmp_path, strategy=ft.selection.PowerOfChoice(2, 4))
    kept(tmp_path, strategy=ft.selection.PowerOfChoice(2, 4, loss="last"))
    kept(tmp_path, size=dataclasses.replace(SMALL, num_rounds=4))
    assert len(list(tmp_path.iterdir())) == len(trainings) == own + 6


def test_a_file_of_another_run_is_refused(tmp_path: Path, trainings: list[Any]) -> None:
    kept(tmp_path)
    [file] = tmp_path.iterdir()
    with np.load(file) as stored:
        np.savez(file, **{**stored, "key": "({'dropout': 0.0}, ...)"})
    with pytest.raises(ValueError, match=r"must hold \(\{\}, Size\(.*, got \(\{'dropout': 0.0\}"):
        kept(tmp_path)


def test_what_is_published_is_run_on_all_partitions_and_what_else_where_it_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = set()

    def keep(_: Any, setting: Any, size: Any, concentration: float, strategy: Any, seed: int) -> dict[str, Any]:
        asked.add((setting.name, concentration, str(strategy), seed))
        num = size.num_rounds // size.record_every + 1
        return {"accuracy": np.zeros(num), "accuracy_dropping": np.zeros(num), "loss": np.zeros(-(-num // 5))}

    monkeypatch.setitem(inspect.unwrap(STUDY.run).__globals__, "kept", keep)
    crowd, once, again, short = "500 clients", "the same clients", "as published", "a sixth of the step, one pass"
    config = dataclasses.replace(
        STUDY.quick, settings=(crowd, once, again, short), repeated=(again, short), concentrations=(0.3, 2.0),
        seeds=(0, 1), strategies=(1, 2), others=(5,), single=(0,), figures=(once,), crowds=(crowd,), early=(),
        variants=(), runs="nowhere",
    )  # fmt: skip
    data = STUDY.run(config, ft.study.silent)
    rand_four, rand_two, pow_d, _, _, others, *_ = map(str, INSIDE["strategies"](4, 2, 4, 10, 8).values())
    everywhere = [(alpha, seed) for alpha in (0.3, 2.0) for seed in (0, 1)]
    wanted = {(again, alpha, name, seed) for alpha, seed in everywhere for name in (rand_two, pow_d, others)}
    wanted |= {(again, alpha, rand_four, 0) for alpha in (0.3, 2.0)}
    wanted |= {(crowd, alpha, rand_four, 0) for alpha in (0.3, 2.0)}
    wanted |= {(once, alpha, others, 0) for alpha in (0.3, 2.0)}
    for setting, places in ((short, [(0.3, 0), (0.3, 1), (2.0, 0)]), (once, [(0.3, 0), (2.0, 0)])):
        wanted |= {(setting, alpha, name, seed) for alpha, seed in places for name in (rand_two, pow_d)}
    assert asked == wanted
    # What was not run is not a number, and has no row.
    assert int(data["accuracy"].notnull().all("round").sum()) == len(asked)
    assert sum(row["partitions"] for row in STUDY.table(data).rows) == len(asked)


def test_unknown_settings_and_strategies_are_refused() -> None:
    with pytest.raises(ValueError, match=r"settings must be among as published, .*, got nonsense"):
        STUDY.run(dataclasses.replace(STUDY.quick, settings=("nonsense",)), ft.study.silent)
    with pytest.raises(ValueError, match=r"settings must be among .*, got a typo"):
        STUDY.run(dataclasses.replace(STUDY.quick, figures=("a typo",)), ft.study.silent)
    with pytest.raises(ValueError, match="strategies, others and single must be numbers from 0 to 10, got 11"):
        STUDY.run(dataclasses.replace(STUDY.quick, others=(11,)), ft.study.silent)
