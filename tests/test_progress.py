"""Progress is shown as the place allows: in a log seldom, and by several workers once."""

import sys
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor

import pytest

import fedtheory as ft
from fedtheory.__main__ import main
from fedtheory._support import progress
from fedtheory.sampling import inclusion


class Clock:
    """Seconds that pass only when a test lets them."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(progress, "time", found)
    return found


def run(clock: Clock, seconds: float, parts: int = 100) -> None:
    with progress.reported("rounds", parts) as report:
        for done in range(1, parts + 1):
            clock.now += seconds / parts
            report(done)


def test_a_log_has_nothing_of_a_short_run_and_a_line_every_ten_seconds_of_a_long_one(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    run(clock, 1.9)
    assert capsys.readouterr().err == ""
    run(clock, 60.0)
    lines = capsys.readouterr().err.splitlines()
    assert 5 <= len(lines) <= 8
    assert lines[0].startswith("rounds: 4 of 100, 0:00:5")
    assert lines[-1] == "rounds: 100 of 100"


def test_a_log_that_cannot_be_written_does_not_end_the_work(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: str) -> None:
        raise OSError

    monkeypatch.setattr(sys, "stderr", types.SimpleNamespace(write=refuse, isatty=lambda: False))
    run(clock, 30.0)


def test_long_computations_and_the_check_by_coq_are_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []  # an announcement is a thread, whose name is the text
    start = threading.Thread.start

    def noted(thread: threading.Thread) -> None:
        texts.append(thread.name)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", noted)
    fed = ft.QuadraticFederation([[1.0], [2.0]], [[1.0], [-1.0]], [0.5, 0.5])
    inclusion._compile.cache_clear()
    ft.sampling.power_of_choice_inclusion(fed.weights, [1.0, 2.0], 1, 1)
    ft.exact.subset_minima(fed)
    ft.exact.selection_skew(fed, ft.selection.Uniform(1))
    answers = {"printing.main": ("", 0), "file_of_certificate": "", "check_by_coq": "8.16"}
    for name, answer in answers.items():
        monkeypatch.setattr(f"fedtheory.cli.checking.{name}", lambda *_, answer=answer: answer)
    assert main(["check", "--coq", "certificate.json"]) == 0
    for part in ("inclusion probabilities", "all sets of clients", "selection skew", "Coq compiles"):
        assert any(part in text for text in texts)


def test_threads_that_wait_for_the_same_work_announce_it_once(capsys: pytest.CaptureFixture[str]) -> None:
    together = threading.Barrier(3)

    def work(_: int) -> None:
        with progress.announced("compiling", after=0.01):
            together.wait()
            time.sleep(0.05)

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(work, range(3)))
    assert capsys.readouterr().err == "compiling ...\n"
