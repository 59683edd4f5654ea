"""Output of commands: progress, a header for JSON, and names and texts in two columns."""

import contextlib
import datetime as dt
import os
import platform
from collections import deque
from collections.abc import Generator, Iterable
from typing import Any, TypeVar

from fedtheory import __version__
from fedtheory._support.console import say
from fedtheory._support.progress import followed

__all__ = ["collected", "document", "write_pairs"]

T = TypeVar("T")


def document(**content: Any) -> dict[str, Any]:
    """Add version, date and machine to the results of a command."""
    return {
        "fedtheory": __version__,
        "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "machine": {
            "platform": platform.platform(),
            "processor": platform.machine(),
            "num_processors": os.cpu_count(),
            "python": platform.python_version(),
        },
        **content,
    }


def write_pairs(pairs: Iterable[tuple[str, str]]) -> None:
    """Write names and texts in two columns; a repeated name is written once."""
    previous = ""
    for name, text in pairs:
        say(f"{'' if name == previous else name:<17} {text}".rstrip())
        previous = name


def collected(
    items: Generator[T, Any, Any], description: str, total: int | None, most: int | None = None
) -> tuple[deque[T], bool]:
    """Return the items of a generator, the last ``most`` of them, and whether Ctrl-C ended it early."""
    found: deque[T] = deque(maxlen=most)
    try:
        with contextlib.closing(items):
            for item in followed(items, description, total):
                found.append(item)
    except KeyboardInterrupt:
        return found, True
    return found, False
