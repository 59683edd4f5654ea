"""Work with a progress bar, which Ctrl-C ends early."""

import contextlib
from collections import deque
from collections.abc import Generator
from typing import Any, TypeVar

from fedtheory._support.console import live_progress

__all__ = ["collected"]

T = TypeVar("T")


def collected(
    items: Generator[T, Any, Any], description: str, total: int | None, most: int | None = None
) -> tuple[deque[T], bool]:
    """Return the items of a generator, the last ``most`` of them, and whether Ctrl-C ended it early."""
    found: deque[T] = deque(maxlen=most)
    try:
        with contextlib.closing(items), live_progress() as wrap:
            for item in wrap(items, description, total):
                found.append(item)
    except KeyboardInterrupt:
        return found, True
    return found, False
