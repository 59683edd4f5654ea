"""Progress of long work: a bar in a terminal, or occasional lines elsewhere."""

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextvars import ContextVar
from datetime import timedelta
from typing import Any, TypeVar

Item = TypeVar("Item")
Report = Callable[..., None]

# Seconds without a message, and between two lines of a log.
_QUIET, _PAUSE = 2.0, 10.0
_IS_SILENT: ContextVar[bool] = ContextVar("_IS_SILENT", default=False)


@contextlib.contextmanager
def reported(description: str, total: int | None, *, done: int = 0) -> Iterator[Report]:
    """Yield a function of the number of finished items and a note, which are shown after two seconds."""
    from rich.console import Console

    console, start = Console(stderr=True), time.monotonic()
    with contextlib.ExitStack() as stack:
        show: list[Report] = []

        def report(now: int, note: str = "") -> None:
            seconds = time.monotonic() - start
            if not show and seconds >= _QUIET:
                if console.is_terminal:
                    show.append(stack.enter_context(_bar(console, description, total)))
                else:
                    show.append(_lines(description))
            for shown in show:
                shown(now, total, _left(now - done, 0 if total is None else total - now, seconds), note)

        yield report


def followed(items: Iterable[Item], description: str, total: int | None = None) -> Iterator[Item]:
    """Yield the items of a loop and show how many are done."""
    if total is None and isinstance(items, Sized):
        total = len(items)
    with reported(description, total) as report:
        for done, item in enumerate(items, 1):
            yield item
            report(done)


@contextlib.contextmanager
def announced(text: str, after: float = _QUIET) -> Iterator[None]:
    """Write a line to standard error if the work takes longer than some seconds.

    If several threads wait with the same text, the line is written once.
    """
    done = threading.Event()

    def say() -> None:
        if not done.wait(after):
            waiting = (thread for thread in threading.enumerate() if thread.name == text)
            if next(waiting, None) is threading.current_thread():
                _log(f"{text} ...")
            done.wait()

    if not _IS_SILENT.get():
        threading.Thread(target=say, name=text, daemon=True).start()
    try:
        yield
    finally:
        done.set()


@contextlib.contextmanager
def unannounced() -> Iterator[None]:
    """Announce nothing in this context, because another process writes the same line."""
    before = _IS_SILENT.set(True)
    try:
        yield
    finally:
        _IS_SILENT.reset(before)


@contextlib.contextmanager
def _bar(console: Any, description: str, total: int | None) -> Iterator[Report]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        TextColumn(description), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[left]}"),
        TextColumn("{task.fields[note]}"),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task(description, total=total, left="", note="")
        yield lambda now, _, left, note: bars.update(task, completed=now, left=left, note=note)


def _log(text: str) -> None:
    # Work does not end because its log is closed, or full.
    with contextlib.suppress(AttributeError, OSError, ValueError):
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


def _lines(description: str) -> Report:
    last, written = -_PAUSE, -1

    def show(now: int, total: int | None, left: str, note: str) -> None:
        nonlocal last, written
        if now != written and (time.monotonic() - last >= _PAUSE or now == total):
            last, written = time.monotonic(), now
            said = ", ".join(filter(None, (f"{now}" if total is None else f"{now} of {total}", note, left)))
            _log(f"{description}: {said}")

    return show


def _left(new: int, missing: int, seconds: float) -> str:
    """Estimate the remaining time from the time so far."""
    if not new or not missing:
        return ""
    return f"{timedelta(seconds=round(seconds / new * missing))} left"
