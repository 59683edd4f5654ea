"""Progress of long work: a bar in a terminal or a notebook, or occasional lines in a log."""

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

__all__ = ["Report", "announced", "reported"]

Report = Callable[..., None]

# Seconds between two lines of a log.
_PAUSE = 10.0


@contextlib.contextmanager
def reported(description: str, total: int, *, done: int = 0, delay: float = 0.0) -> Iterator[Report]:
    """Yield a function of the number of finished items and a note, which are shown after ``delay`` seconds."""
    from rich.console import Console

    console, start = Console(stderr=True), time.monotonic()
    with contextlib.ExitStack() as stack:
        show: list[Report] = []

        def report(now: int, note: str = "") -> None:
            if not show and time.monotonic() - start >= delay:
                lively = console.is_terminal or console.is_jupyter
                show.append(stack.enter_context(_bar(console, description, total)) if lively else _log(description))
            for shown in show:
                shown(now, total, _left(now - done, total - now, time.monotonic() - start), note)

        yield report


@contextlib.contextmanager
def announced(text: str, after: float = 2.0) -> Iterator[None]:
    """Write a line to standard error if the work takes longer than some seconds."""
    timer = threading.Timer(after, lambda: sys.stderr.write(f"{text} ...\n"))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextlib.contextmanager
def _bar(console: Any, description: str, total: int) -> Iterator[Report]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        TextColumn(description), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[left]}"),
        TextColumn("{task.fields[note]}"),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task(description, total=total, left="", note="")
        yield lambda now, _, left, note: bars.update(task, completed=now, left=left, note=note)


def _log(description: str) -> Report:
    last, written = -_PAUSE, -1

    def write(now: int, total: int, left: str, note: str) -> None:
        nonlocal last, written
        if now != written and (time.monotonic() - last >= _PAUSE or now == total):
            last, written = time.monotonic(), now
            said = ", ".join(filter(None, (f"{now} of {total}", note, left)))
            sys.stderr.write(f"{description}: {said}\n")
            sys.stderr.flush()

    return write


def _left(new: int, missing: int, seconds: float) -> str:
    """Estimate the remaining time from the time so far.

    >>> _left(10, 25, 4.0), _left(0, 25, 4.0), _left(10, 0, 4.0)
    ('0:00:10 left', '', '')
    """
    if not new or not missing:
        return ""
    return f"{timedelta(seconds=round(seconds / new * missing))} left"
