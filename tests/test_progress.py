"""Progress is shown as the place allows: in a log seldom, in a notebook as one line, and by several workers once."""

import contextlib
import sys
import threading
import time
import types
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import pytest
from numba.core.caching import NullCache

import fedtheory as ft
from fedtheory._support import compiling as compilation
from fedtheory._support import console, progress
from tests.environment import PLAIN_PYTHON


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


@pytest.mark.parametrize("error", [OSError, ValueError, AttributeError])
def test_a_log_that_cannot_be_written_does_not_end_the_work(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def refuse(_: str) -> None:
        raise error

    monkeypatch.setattr(sys, "stderr", types.SimpleNamespace(write=refuse, isatty=lambda: False))
    run(clock, 30.0)


def test_a_loop_of_a_command_writes_a_line_every_ten_seconds_into_a_log(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with console.live_progress() as wrap:
        for _ in wrap([1, 2, 3], "parts"):
            clock.now += 6.0
        for _ in wrap(iter([1, 2]), "unknown"):
            clock.now += 11.0
        assert list(wrap([1, 2], "quick")) == [1, 2]
    assert capsys.readouterr().err.splitlines() == [
        "parts: 2 of 3, 0:00:06 left", "parts: 3 of 3", "unknown: 1", "unknown: 2",
    ]  # fmt: skip


def test_a_notebook_without_ipywidgets_has_one_line_that_is_updated(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown: list[tuple[str, str]] = []

    def display(data: dict[str, str], *, raw: bool, display_id: bool) -> Any:
        shown.append(("new", data["text/plain"]))
        return types.SimpleNamespace(update=lambda data, raw: shown.append(("same", data["text/plain"])))

    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=display))
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    run(clock, 10.0)
    assert [place for place, _ in shown] == ["new", *["same"] * (len(shown) - 1)]
    assert 10 <= len(shown) <= 20
    assert shown[-1][1] == "rounds: 100 of 100"
    assert capsys.readouterr() == ("", "")


def test_a_table_in_a_notebook_is_text_and_no_output_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert console.table_lines([{"d": 3, "gap": 0.25}], "title") == ["title", "d   gap", "3  0.25"]


def test_threads_that_wait_for_the_same_work_announce_it_once(capsys: pytest.CaptureFixture[str]) -> None:
    together = threading.Barrier(3)

    def work(_: int) -> None:
        with progress.announced("compiling", after=0.01):
            together.wait()
            time.sleep(0.05)

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(work, range(3)))
    assert capsys.readouterr().err == "compiling ...\n"


def test_work_is_not_announced_where_another_process_announces_it(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.unannounced(), progress.announced("compiling", after=0.0):
        time.sleep(0.02)
    assert capsys.readouterr().err == ""


@pytest.fixture
def announced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Texts of compilations that begin."""
    texts: list[str] = []

    @contextlib.contextmanager
    def recorded(text: str) -> Iterator[None]:
        texts.append(text)
        yield

    monkeypatch.setattr(compilation, "announced", recorded)
    return texts


@pytest.mark.skipif(PLAIN_PYTHON, reason="nothing is compiled")
def test_a_call_that_waits_for_compilation_announces_it(announced: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilation, "_cache_of", lambda *_: NullCache())
    double = compilation.compiled(lambda number: 2 * number)
    assert [double(3), double(4)] == [6, 8]
    assert announced == ["fedtheory compiles a function, once on this machine"]


@pytest.mark.skipif(PLAIN_PYTHON, reason="nothing is compiled")
def test_several_functions_are_announced_together_and_those_of_other_threads_are_not(announced: list[str]) -> None:
    def compile_both() -> None:
        for _ in range(2):
            numba.njit(lambda number: number + 1.0)(3.0)

    with compilation.announced_compilation("two functions"):
        compile_both()
    with compilation.announced_compilation("nothing"), ThreadPoolExecutor(1) as thread:
        thread.submit(compile_both).result()
    assert announced == ["two functions"]


def test_a_run_that_compiles_nothing_starts_no_thread_to_announce_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> None:
        fed = ft.QuadraticFederation([1.0, 2.0], [[0.0], [1.0]], [0.5, 0.5])
        ft.fedavg(fed, ft.selection.Full(), num_rounds=1, step_size=0.5)

    run()
    started: list[str] = []
    start = threading.Thread.start

    def recorded(thread: threading.Thread) -> None:
        started.append(thread.name)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", recorded)
    run()
    assert not [name for name in started if "compiles" in name]


def compiling(d: int) -> float:
    with progress.announced("compiling", after=0.1):
        time.sleep(0.5)
    return float(d)


@pytest.mark.slow  # starts processes
@pytest.mark.parametrize("backend", ["sequential", "threading", "loky"])
def test_a_sweep_announces_compilation_once(backend: str, capfd: pytest.CaptureFixture[str]) -> None:
    ft.sweep(compiling, {"d": [1, 2, 3, 4]}, backend=backend, workers=2)
    assert capfd.readouterr().err.count("compiling ...") == 1
