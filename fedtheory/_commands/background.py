"""Compute in a thread of its own, so that Ctrl-C is heard at once."""

import queue
import threading
from collections.abc import Generator, Iterable, Iterator
from typing import Any, TypeVar

__all__ = ["in_background"]

T = TypeVar("T")

# Compilers need deep stacks, and some platforms give threads shallow ones.
_STACK = 64 * 2**20


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
