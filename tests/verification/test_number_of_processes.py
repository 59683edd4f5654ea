"""No more processes are started than there is work, and more than there are processors are mentioned."""

from collections.abc import Callable
from typing import Any

import pytest
from joblib.externals import loky

from fedtheory.__main__ import main
from fedtheory.verification import _processes, verify
from fedtheory.verification.catalogue import select_claims
from fedtheory.verification.claims import Claim
from fedtheory.verification.hunts import hunt

ONE, TWO = ["power-of-choice:lemma-b1"], ["power-of-choice:lemma-b1", "power-of-choice:step-54-55"]


class Executor:
    """Does the work at once, here."""

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Any:
        value = work(*arguments)
        return type("Done", (), {"result": lambda _: value, "cancel": lambda _: True})()


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Numbers of processes that were asked for."""
    asked: list[int] = []

    def executor(max_workers: int, **_: Any) -> Executor:
        asked.append(max_workers)
        return Executor()

    monkeypatch.setattr(loky, "get_reusable_executor", executor)
    return asked


def test_items_that_can_be_counted_are_the_most_processes(started: list[int]) -> None:
    lemma, second = select_claims(TWO)

    def key_and_size(claim: Claim, number: int) -> tuple[str, int]:
        return claim.key, abs(number)

    items = [(lemma, -1), (second, 2), (lemma, -3)]
    wanted = [(lemma.key, 1), (second.key, 2), (lemma.key, 3)]
    assert list(_processes.in_order(key_and_size, items, 200)) == wanted
    assert list(_processes.in_order(key_and_size, items[:1], 200)) == wanted[:1]
    assert list(_processes.in_order(key_and_size, [], 200)) == []
    assert list(_processes.in_order(key_and_size, iter(items[:2]), 200)) == wanted[:2]
    assert started == [3, 200]


def test_claims_and_climbs_are_the_most_processes(started: list[int]) -> None:
    verify(ONE, jobs=200)
    verify(TWO, jobs=200)
    verify(TWO, budget=1e-3, jobs=200)
    hunt(ONE[0], evaluations=1, jobs=200)
    hunt(ONE[0], evaluations=3, jobs=200)
    assert started == [2, 2, 3]


@pytest.mark.parametrize(
    ("words", "number"),
    [
        (["verify", *TWO, "--jobs", "200"], 2),
        (["verify", *ONE, "--jobs", "200"], None),
        (["hunt", ONE[0], "--evaluations", "3", "--jobs", "200"], 3),
        (["hunt", ONE[0], "--evaluations", "3", "--jobs", "1"], None),
    ],
)
def test_more_processes_than_processors_are_mentioned(
    started: list[int],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    number: Any,
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert main(words) == 0
    said = f"warning: --jobs starts {number} processes, and there are 1 processors\n" if number else ""
    assert capsys.readouterr().err == said
    assert started == ([number] if number else [])
