"""Time of a review: limits of sections, which Ctrl-C ends as well, and lines of progress."""

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, final

__all__ = ["Clock"]

_PAUSE = 2.0
"""Seconds between two lines about short steps."""


@final
class Clock:
    """Seconds since the start of a review, and the end of its budget in seconds.

    ``ended`` is why the last block was cut short: empty, ``the time was over`` or ``interrupted``.
    """

    def __init__(self, budget: float, report: Callable[[str], Any]) -> None:
        self.budget, self.ended = budget, ""
        self._start, self._report, self._last = time.monotonic(), report, 0.0

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._start

    @property
    def left(self) -> float:
        """Seconds until the end of the budget."""
        return max(self.budget - self.seconds, 0.0)

    def say(self, text: str) -> None:
        """Report what is done, after the seconds since the start."""
        self._last = self.seconds
        self._report(f"{self._last:5.0f} s  {text}")

    def step(self, text: str) -> None:
        """Report one of many short steps, at most every few seconds."""
        if self.seconds - self._last >= _PAUSE:
            self.say(text)

    @contextlib.contextmanager
    def limit(self, share: float = 1.0, *, least: float = 1e-3) -> Iterator[None]:
        """Leave the block when a share of the time that is left is used, or when the user presses Ctrl-C.

        The block has at least ``least`` seconds.
        A timer raises KeyboardInterrupt in the block. Threads other than the main thread, and Windows, have no such
        timer; there a block ends by itself.
        """
        self.ended = "interrupted" if self.ended == "interrupted" else ""
        timed = hasattr(signal, "SIGALRM") and threading.current_thread() is threading.main_thread()
        before = signal.getsignal(signal.SIGALRM) if timed else None
        end = self.seconds + max(share * self.left, least)
        try:
            if timed:
                signal.signal(signal.SIGALRM, signal.default_int_handler)
                signal.setitimer(signal.ITIMER_REAL, max(end - self.seconds, 1e-6))
            yield
        except (KeyboardInterrupt, SystemError) as error:
            # Functions in C that ignore the interruption end with a SystemError, whose cause it is.
            if not any(isinstance(one, KeyboardInterrupt) for one in (error, error.__cause__)):
                raise
            self.ended = "the time was over" if self.seconds >= end else "interrupted"
        finally:
            if timed:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, before)
