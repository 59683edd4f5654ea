"""Strategies of the installed Flower give the stored results on the instances of their papers."""

import json
import math
import random
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import numpy as np
import pytest

from fedtheory.conformance.flower_strategies import _change, flower
from tests.conformance.flower_papers import BETA_1, BETA_2, QUESTIONS, STORED, Asked, answers, kingma_ba, some_losses
from tests.test_readme import read

RECORDED = json.loads(STORED.read_text(encoding="utf-8"))
VECTORS, WEIGHTS = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 3.0]]), np.array([0.5, 0.25, 0.25])


@pytest.fixture(scope="module")
def flwr() -> Any:
    return pytest.importorskip("flwr.serverapp.strategy", reason="needs Flower, the extra flower")


@pytest.mark.parametrize("asked", QUESTIONS, ids=lambda asked: f"{asked.strategy}-{asked.says}")
def test_a_strategy_answers_as_is_stored(flwr: Any, asked: Asked) -> None:
    try:
        installed = version("flwr")
    except PackageNotFoundError:
        installed = ""
    if installed != RECORDED["version"]:
        pytest.skip(f"the answers are those of flwr {RECORDED['version']}, and {installed} is installed")
    [stored] = [row for row in RECORDED["answers"] if (row["strategy"], row["says"]) == (asked.strategy, asked.says)]
    assert answers(flwr, [asked]) == [stored]


def test_every_strategy_that_averages_is_asked(flwr: Any) -> None:
    # Wrappers for privacy put noise and clipping around another strategy, those for XGBoost collect trees.
    others = ("Strategy", "Result", "DifferentialPrivacy", "FedXgb")
    averaging = {name for name in flwr.__all__ if not name.startswith(others)}
    assert averaging == {asked.strategy for asked in QUESTIONS}


def test_a_round_is_what_is_computed_by_hand(flwr: Any) -> None:
    # (2 (1, 0) + (0, 2) + (3, 3)) / 4
    aggregate = flower(flwr.FedAvg()).aggregate
    assert aggregate(np.random.default_rng(0), VECTORS, WEIGHTS).tolist() == [1.25, 1.25]


def states() -> Any:
    """Where the global generators stand."""
    state: Any = np.random.get_state()  # noqa: NPY002
    return random.getstate(), state[1].tolist(), state[2:]


def test_calls_neither_remember_each_other_nor_move_the_global_generators(flwr: Any) -> None:
    strategy = flwr.FedAvgM(server_momentum=0.9)
    aggregate, rng = flower(strategy, num_rounds=2).aggregate, np.random.default_rng(0)
    before = states()
    # w_1 = m, w_2 = m + 0.9 m + m, by hand
    for _ in range(2):
        np.testing.assert_allclose(aggregate(rng, VECTORS, WEIGHTS), 2.9 * np.array([1.25, 1.25]), rtol=1e-15)
    assert states() == before
    assert strategy.current_arrays is None


def test_what_the_page_says_without_the_table_is_what_was_answered() -> None:
    page = read("docs/howto/flower.md")
    differing = {row["strategy"] for row in RECORDED["answers"] if row["failures"]}
    agreeing = {asked.strategy for asked in QUESTIONS} - differing
    assert agreeing == {"FedAvgM", "FedYogi", "FedMedian", "FedTrimmedAvg"}
    assert all(f"`{name}`" in page for name in agreeing)
    # One step of Adam from 0: (1 - beta_1) / sqrt(1 - beta_2), times the correction of step 2.
    first = (1 - BETA_1) / math.sqrt(1 - BETA_2) * kingma_ba(2)
    assert first == pytest.approx(math.sqrt(1 + BETA_2) / (1 + BETA_1), rel=1e-12)
    assert f"= {first:.2f}$ times `eta`" in page


class LossWeighted(NamedTuple):
    """A server that needs no Flower: all clients train, and their models are averaged by the losses they report."""

    def asked(self, server_round: int, model: Any, num_clients: int) -> list[tuple[int, int]]:
        return [(client, client) for client in range(num_clients)]

    def reply(self, message: int, model: Any, examples: int, numbers: Any) -> tuple[Any, float]:
        return model, numbers["train_loss"]

    def aggregated(self, server_round: int, replies: Any) -> list[Any]:
        return [sum(loss * model for model, loss in replies) / sum(loss for _, loss in replies)]


def test_the_metrics_of_a_round_are_those_of_its_clients() -> None:
    # Losses 1.5, 3 and 10: (1.5 (1, 0) + 3 (0, 2) + 10 (3, 3)) / 14.5 in each round, by hand
    for num_rounds in (1, 2):
        change = _change(LossWeighted(), num_rounds, some_losses, np.random.default_rng(0), VECTORS, WEIGHTS)
        np.testing.assert_allclose(change, num_rounds * np.array([31.5, 36]) / 14.5, rtol=1e-14)


@pytest.mark.parametrize("missing", ["flwr", "flwr.app"])
def test_without_flower_the_extra_is_named(missing: str, monkeypatch: Any) -> None:
    monkeypatch.setitem(__import__("sys").modules, missing, None)
    with pytest.raises(ImportError, match=r'pip install "fedtheory\[flower\]"'):
        flower(None)
