"""Standard output that is closed or full, and processes that Ctrl-C must not reach."""

import contextlib
import errno
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["deaf_to_interrupts", "flushed", "nowhere", "opened", "sentence"]


def opened() -> None:
    """Raise OSError if standard output was closed from the start; without standard error complaints go nowhere."""
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        raise OSError(errno.EBADF, "standard output must be open, got a closed one")


def flushed() -> None:
    """Write out what standard output still holds; OSError if it does not take it, and then the rest goes nowhere.

    The interpreter would try again at its end, and show a traceback.
    """
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        nowhere()
        told = os.strerror(error.errno) if error.errno else str(error)
        raise OSError(error.errno, f"standard output must take what is written, got {told}") from error


def sentence(error: OSError) -> str:
    """Return what an error of the system says, and of which file."""
    told = error.strerror or str(error)
    return f"{error.filename}: {told}" if error.filename else told


def nowhere() -> None:
    """Let what standard output still holds go nowhere."""
    with contextlib.suppress(AttributeError, OSError, ValueError):  # there may be none
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def deaf_to_interrupts() -> Iterator[None]:
    """Let processes that are started meanwhile not hear Ctrl-C, and this one hear it afterwards.

    What is blocked is inherited. A worker says for itself that it ignores Ctrl-C, but only once it has imported what it
    needs; one that comes before would end it with a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
