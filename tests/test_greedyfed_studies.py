"""Independent computations for the studies of GreedyFed, and wrong results that they detect."""

# mypy: allow-untyped-calls

import dataclasses
import gzip
import struct
import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import tyro  # noqa: F401 # imported first, it looks into builtins, where a doctest before it may have left an array
import xarray

import fedtheory as ft
from fedtheory import study
from tests.environment import ROOT
from tests.quick_studies import loaded


@pytest.fixture(scope="module")
def approximation() -> study.Study:
    return loaded("shapley_approximation")


TABLES = loaded("greedyfed_tables")
RUNS, CAUSES = (sys.modules[f"_greedyfed_{name}"] for name in ("fashion", "causes"))


def packed(array: Any) -> bytes:
    """Bytes in the layout of MNIST's files."""
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.astype("u1").tobytes()


def pictures() -> tuple[Any, Any]:
    """Ninety pictures of 2 x 3 pixels in three classes, each of which lights up a column."""
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=90)
    return 200 * (np.arange(3) == labels[:, None, None]) + rng.integers(50, size=(90, 2, 3)), labels


RUN = (
    "--digits.num-server", "30", "--digits.num-clients", "4", "--digits.num-selected", "2", "--digits.num-rounds", "4",
    "--digits.record-every", "2", "--digits.hidden", "8", "--digits.step-size", "0.3",
)  # fmt: skip
SMALL = (
    *RUN, "--digits-seeds", "2", "--changes", "averaging=0",
    "--num-seeds", "1", "--settings", "one class", "--quadratics.num-starts", "2",
)  # fmt: skip


def command(folder: Any, *arguments: str, capsys: Any) -> tuple[int, str]:
    """Exit code and complaint of the study's command line, in this process, which has the kernels."""
    try:
        study.main(TABLES, ["--quick", *SMALL, "--out", str(folder / "results"), *arguments])
    except SystemExit as stop:
        return int(stop.code or 0), capsys.readouterr().err
    return 0, ""


@pytest.mark.slow
@pytest.mark.parametrize("wrap", [bytes, gzip.compress], ids=["raw", "gzip"])
def test_images_of_ones_own_are_studied_from_the_command_line(wrap, tmp_path, capsys) -> None:
    for name, array in zip(("images", "labels"), pictures(), strict=True):
        (tmp_path / name).write_bytes(wrap(packed(array)))
    pair = (str(tmp_path / "images"), str(tmp_path / "labels"))
    code, complaint = command(tmp_path, "--digits.data", *pair, *pair, capsys=capsys)
    # Findings about digits need not hold on other pictures: the study names each that does not, and says nothing else.
    stored = study.load(tmp_path / "results")
    failed = [one.sentence for one in stored.findings.values() if not one.holds]
    assert (code, complaint.count("\n")) == (int(bool(failed)), len(failed))
    assert all(f"does not hold: {sentence}" in complaint for sentence in failed)
    data = stored.data
    # Three classes: guessing has a third right.
    assert float(data["leads_accuracy"].isel(leads_round=-1).sel(leads_algorithm="FedAvg").mean()) > 80


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--settings", "none"), "settings must be among one class; as drawn; alpha = 0.1"),
        (("--variants", "FedSGD"), "variants must be among GreedyFed, mean; GreedyFed, 0"),
        (("--digits.data", "cifar"), "data must be digits, fashion-mnist, or four IDX files"),
        (("--digits.data", *["absent"] * 4), "No such file or directory"),
        (("--digits.num-server", "1797"), "num_server must leave samples for clients, got 1797 of 1797"),
        (("--digits.num-selected", "5"), "num_selected must be in 1..4, got 5"),
    ],
)
def test_wrong_words_and_sizes_end_the_study_with_one_sentence(arguments, sentence, tmp_path, capsys) -> None:
    code, complaint = command(tmp_path, *arguments, capsys=capsys)
    assert (code, complaint.count("\n")) == (2, 1)
    assert sentence in complaint


def test_the_server_halves_its_samples_and_clients_get_the_others(monkeypatch) -> None:
    x = np.arange(200.0)[:, None]
    images = sys.modules["_images"].without_tests(x, np.arange(200) % 4)

    def deal(images: Any, seed: int) -> Any:
        monkeypatch.setattr(RUNS, "images_of", lambda _: images)
        RUNS.deal.cache_clear()
        return RUNS.deal(("any",), 60, 5, 1.0, seed)

    dealt = deal(images, 3)
    pools = [dealt.validation.features.ravel(), dealt.clients.test_features.ravel(), dealt.clients.features.ravel()]
    assert [pool.size for pool in pools] == [30, 30, 140]
    assert sorted(np.concatenate(pools)) == x.ravel().tolist()
    again, other = (deal(images, seed) for seed in (3, 4))
    np.testing.assert_array_equal(again.clients.features, dealt.clients.features)
    assert (other.clients.features != dealt.clients.features).any()
    # What has a test set trains on everything else, and leaves so many of its test samples to the server.
    tested = deal(images._replace(x_test=x + 200, y_test=images.y), 3)
    pools = [tested.validation.features.ravel(), tested.clients.test_features.ravel()]
    assert [len(set(pool) & set(x.ravel() + 200)) for pool in pools] == [30, 30]
    assert sorted(tested.clients.features.ravel()) == x.ravel().tolist()
    RUNS.deal.cache_clear()


def test_a_lead_is_paired_and_ends_where_its_mean_is_no_longer_positive() -> None:
    greedy = np.array([[10.0, 60.0, 70.0, 70.0, 70.0], [10.0, 40.0, 60.0, 62.0, 62.0]])
    fedavg = np.array([[10.0, 20.0, 50.0, 71.0, 80.0], [10.0, 30.0, 56.0, 61.0, 70.0]])
    names = ("change", "seed", "algorithm")
    data = xarray.Dataset(
        {
            "accuracy": ((*names, "round"), np.stack([greedy, fedavg], axis=1)[None]),
            "found": ((*names, "number"), np.array([[[[2.0, 3.0], [8.0, 9.0]]] * 2])),
        },
        coords={
            "change": ["base"], "algorithm": ["GreedyFed", "FedAvg"], "round": [0, 10, 20, 30, 40],
            "number": ["effective clients", "effective classes"],
        },
    )  # fmt: skip
    [row] = CAUSES.rows_of_leads(data)
    # Leads 0 0, 40 10, 20 4, -1 1, -10 -8: they cancel at round 30.
    assert (row["largest lead"], row["at round"], row["behind from round"]) == (25.0, 10, 30)
    # Student's quantile of 0.975 at one degree of freedom is tan(0.475 pi), and the standard error is 1.
    half = np.tan(0.475 * np.pi)
    assert row["less FedAvg"] == f"-9.0 [{-9 - half:.1f}, {-9 + half:+.1f}]"
    assert (row["effective clients"], row["effective classes, FedAvg"]) == (2.0, 9.0)


def test_effective_clients_and_classes_are_those_that_updates_came_from() -> None:
    x = np.zeros((3, 1))
    clients = ft.federation.FederatedData.from_clients([(x, [0, 0, 0]), (x, [1, 1, 1]), (x, [2, 2, 2])], num_classes=4)
    dealt = RUNS.Dealt(clients, clients)
    # Shares 1/2 and 1/2: two clients, and two classes; shares 2/3, 1/6, 1/6: 1 / (4/9 + 2/36).
    assert CAUSES.spread(np.array([5, 5, 0]), dealt) == pytest.approx((2, 2))
    entropy = np.log(6) - 2 / 3 * np.log(4)
    assert CAUSES.spread(np.array([4, 1, 1]), dealt) == pytest.approx((2, np.exp(entropy)))


def test_one_number_is_changed_at_a_time() -> None:
    common = TABLES.config.digits
    same, how, variant = CAUSES.changed(common, "base")
    assert (same, how.concentration, variant) == (common, 1e-4, "GreedyFed, mean")
    fewer = dataclasses.replace(common, num_clients=20)
    assert CAUSES.changed(common, "num_clients=20") == (fewer, how, variant)
    assert CAUSES.changed(common, "averaging=0.5") == (common, how, "GreedyFed, 0.5")
    skewed = dataclasses.replace(how, concentration=0.1)
    assert CAUSES.changed(common, "concentration=0.1") == (common, skewed, variant)
    with pytest.raises(ValueError, match=r"changes must be of step_size, num_clients, .*, got hidden=3"):
        CAUSES.changed(common, "hidden=3")
    found = [CAUSES.changed(common, change) for change in ("base", *TABLES.config.changes)]
    assert all(one not in found[:i] for i, one in enumerate(found))


def test_estimates_are_asked_for_after_doubling_sweeps_and_count_coalitions_once(approximation) -> None:
    estimates = sys.modules["_shapley_games"].estimates
    config = dataclasses.replace(approximation.quick, num_sweeps=5)
    table = np.array([0.0, 1.0, 3.0, 4.0])  # additive: every order shows 1 and 3
    for name in ("orders", "sweeps", "truncated"):
        found = estimates(name, table, 2, config, np.random.default_rng(0))
        assert len(found) == 3  # 1, 2 and 4 sweeps of 5
        assert found[-1][0] == 4
        np.testing.assert_allclose([values for _, values in found], [[1.0, 3.0]] * 3)
    # A sweep of two begins with each of them: all coalitions are known after the first.
    assert [cost for cost, _ in estimates("sweeps", table, 2, config, np.random.default_rng(0))] == [4, 4, 4]


def test_truncation_counts_what_it_spares(approximation) -> None:
    estimates = sys.modules["_shapley_games"].estimates
    config = dataclasses.replace(approximation.quick, num_sweeps=1, tolerance=0.5)
    # Anyone is worth as much as everybody: each walk ends after its first player, {0}, {1} or {2}.
    table = np.array([0.0] + [1.0] * 7)
    [(cost, values)] = estimates("truncated", table, 3, config, np.random.default_rng(0))
    assert cost == 5  # nobody, everybody and three alone
    np.testing.assert_allclose(values, 1 / 3)


def plain_greedy(p: float, start: float, first: int) -> float:
    """Gap after GreedyFed with two clients, one per round, in plain rationals: no engine, no closed form."""
    weight = Fraction(p)
    centers = (weight - 1, weight)
    w, sums, counts = Fraction(start), [Fraction(0)] * 2, [0, 0]
    for t in range(60):
        means = [total / max(count, 1) for total, count in zip(sums, counts, strict=True)]
        chosen = (first, 1 - first)[t] if t < 2 else int(means[1] > means[0])
        after = centers[chosen]
        sums[chosen] += (w * w - after * after) / 2
        counts[chosen] += 1
        w = after
    return float(w * w / 2)


@pytest.mark.parametrize("p", [0.5625, 0.578125, 0.59375, 0.75])
def test_the_law_of_two_clients_is_what_a_plain_program_does(p: float) -> None:
    for start in np.arange(-17, 18, 2) / 16:
        for first in (0, 1):
            assert plain_greedy(p, start, first) == pytest.approx(float(CAUSES.law(p, start, first)), rel=1e-15)


def test_the_place_of_no_pull_is_where_fixed_cohorts_take_the_model() -> None:
    fed = ft.QuadraticFederation([1.0, 2.0, 5.0], [[1.0], [0.0], [4.0]], [0.5, 0.3, 0.2])
    place = CAUSES.place_of_no_pull(fed, np.array([[0, 2]] * 3), 0.1, 2)
    # One cohort for good: a fixed point of w -> w + 5/7 (1 - 0.9^2)(1 - w) + 2/7 (1 - 0.5^2)(4 - w).
    pulls = 5 / 7 * 0.19, 2 / 7 * 0.75
    assert place == pytest.approx([(pulls[0] * 1 + pulls[1] * 4) / sum(pulls)])


@pytest.mark.slow
def test_values_of_ones_own_utility_are_asked_for_in_a_script_outside_of_the_package(tmp_path) -> None:
    script = tmp_path / "my_values.py"
    script.write_text(
        """
import fedtheory as ft

# Three data sets, and what a model trained on some of them is worth to us.
RIGHT = {(): 50, (0,): 60, (1,): 70, (2,): 50, (0, 1): 90, (0, 2): 60, (1, 2): 70, (0, 1, 2): 90}

def accuracy(players):
    return RIGHT[tuple(sorted(players))]

values = ft.valuation.shapley(accuracy, 3)
print(*values, ft.valuation.efficiency(accuracy, values), *ft.valuation.null_player(accuracy, values))
found = ft.valuation.gtg_shapley(accuracy, 3, rng=1)
print(found.stopped, found.num_evaluations, abs(found.values - values.astype(float)).max() < 2)
""",
        encoding="utf-8",
    )
    shown = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        check=True,
    ).stdout.splitlines()  # fmt: skip
    # 0 adds 10 before 1 and 20 after it, 1 adds 20 and 30; 2 adds nothing.
    assert shown[0] == "15 25 0 0 0"
    assert shown[1].split()[1:] == ["8", "True"]
