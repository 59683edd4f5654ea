"""Output of commands: progress, and names and texts in two columns."""

import contextlib
from collections import deque
from collections.abc import Generator, Iterable
from typing import Any, TypeVar

from fedtheory._support.console import say
from fedtheory._support.progress import followed

__all__ = ["collected", "write_pairs"]

T = TypeVar("T")


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
