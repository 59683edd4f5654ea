"""There are at most as many processes as tasks, with a message if there are more than processors."""

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
from joblib import Parallel

from fedtheory.__main__ import main
from fedtheory.claims.catalogue import select_claims
from fedtheory.theorem.claims import Claim
from fedtheory.verification import _jobs, hunts, verify
from fedtheory.verification.hunts import hunt

ONE, TWO = ["power-of-choice:lemma-b1"], ["power-of-choice:lemma-b1", "power-of-choice:step-54-55"]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Numbers of processes that were asked for; the work is done here."""
    asked: list[int] = []

    @contextlib.contextmanager
    def pool(jobs: int, return_as: str = "list") -> Iterator[Any]:
        asked.append(jobs)
        with Parallel(n_jobs=1, return_as=return_as) as run:
            yield run

    for module in (_jobs, hunts):
        monkeypatch.setattr(module, "pool", pool)
    return asked


def key_and_size(claim: Claim, number: int) -> tuple[str, int]:
    return claim.key, abs(number)


def test_there_are_no_more_processes_than_items(started: list[int]) -> None:
    lemma, second = select_claims(TWO)
    items = [(lemma, -1), (second, 2), (lemma, -3)]
    wanted = [(lemma.key, 1), (second.key, 2), (lemma.key, 3)]
    assert list(_jobs.in_order(key_and_size, items, 200)) == wanted
    assert list(_jobs.in_order(key_and_size, items[:1], 200)) == wanted[:1]
    assert list(_jobs.in_order(key_and_size, [], 200)) == []
    assert started == [3]


@pytest.mark.slow
def test_there_are_no_more_processes_than_claims_or_climbs(started: list[int]) -> None:
    verify(ONE, jobs=200)
    verify(TWO, jobs=200)
    verify(TWO, budget=1e-3, jobs=200)
    hunt(ONE[0], evaluations=1, jobs=200)
    hunt(ONE[0], evaluations=3, jobs=200)
    assert started == [2, 2, 3]


@pytest.mark.slow
def test_processes_return_results_in_order_and_may_be_left_early() -> None:
    """They take a second to start."""
    lemma, second = select_claims(TWO)
    found = _jobs.in_order(key_and_size, [(lemma, 1), (second, 2)] * 20, 2)
    assert [next(found) for _ in range(3)] == [(lemma.key, 1), (second.key, 2), (lemma.key, 1)]
    found.close()
    assert list(_jobs.in_order(key_and_size, [(lemma, 1), (second, 2)], 2)) == [(lemma.key, 1), (second.key, 2)]


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
