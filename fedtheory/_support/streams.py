"""Closed or full standard output, and worker processes without Ctrl-C."""

import contextlib
import errno
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path


def check_stdout() -> None:
    """Raise OSError if standard output was closed at the start; without standard error messages are discarded."""
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        raise OSError(errno.EBADF, "standard output must be open, got a closed one")


def flush_stdout() -> None:
    """Flush standard output; OSError if that fails, and then the rest is discarded.

    The interpreter would otherwise try again at exit and print a traceback.
    """
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        to_devnull()
        told = os.strerror(error.errno) if error.errno else str(error)
        raise OSError(error.errno, f"standard output must take what is written, got {told}") from error


def sentence(error: OSError) -> str:
    """Return the message of a system error, with the file."""
    told = error.strerror or str(error)
    return f"{error.filename}: {told}" if error.filename else told


def to_devnull() -> None:
    """Discard the buffered output."""
    with contextlib.suppress(AttributeError, OSError, ValueError):  # there may be none
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def block_sigint() -> Iterator[None]:
    """Block Ctrl-C for processes that are started in this context; this process receives it afterwards.

    Blocked signals are inherited. An interrupted worker would end with a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # The first lock starts Python's tracker of resources, which unblocks Ctrl-C when it starts.
    multiprocessing.get_context("spawn").Lock()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
