"""Compute in a thread of its own, beside a bar, so that Ctrl-C is answered at once."""

import queue
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, TypeVar

from fedtheory._support.console import live_progress

__all__ = ["in_background", "interrupted"]

T = TypeVar("T")

# Compilers need deep stacks, and some platforms give threads shallow ones.
_STACK = 64 * 2**20


def interrupted(items: Iterable[T], keep: Callable[[T], Any], description: str, total: int | None) -> bool:
    """Keep all items of an iterable, which is run in the background, and return whether Ctrl-C came before the last.

    An item is kept in the thread that makes it: Ctrl-C may come while it is handed over.
    """

    def keeping() -> Iterator[T]:
        for item in items:
            keep(item)
            yield item

    try:
        with live_progress() as wrap:
            for _ in wrap(in_background(keeping()), description, total):
                pass
    except KeyboardInterrupt:
        return True
    return False


def in_background(items: Iterable[T]) -> Generator[T, None, None]:
    """Yield what an iterable yields, and raise what it raises, while it is run in a thread of its own.

    Python delivers Ctrl-C to the main thread, and only between two of its instructions: not within seconds if compiled
    code is what it runs. A main thread that waits is free. Where nobody waits any more, the thread ends at the next
    item, or with the program.
    """
    results: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
    left = threading.Event()

    def work() -> None:
        try:
            for item in items:
                if left.is_set():
                    return
                results.put(("item", item))
            results.put(("end", None))
        except BaseException as error:  # raised again where it is waited for
            results.put(("error", error))

    previous = threading.stack_size(_STACK)
    try:
        threading.Thread(target=work, daemon=True).start()
    finally:
        threading.stack_size(previous)
    try:
        yield from _arriving(results)
    finally:
        left.set()


def _arriving(results: "queue.SimpleQueue[tuple[str, Any]]") -> Iterator[Any]:
    while True:
        try:
            kind, value = results.get(timeout=0.1)
        except queue.Empty:
            continue
        if kind == "error":
            raise value
        if kind == "end":
            return
        yield value
