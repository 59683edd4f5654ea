"""Call other people's code: in a thread that is stopped when one call takes too long, and with what it raises in words.

Plain Python is stopped wherever it is. Compiled code that does not return is left behind in its thread; if it holds the
interpreter lock, too, nothing in Python can go on.
"""

import contextvars
import ctypes
import random
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any, final

import numpy as np

from fedtheory._support.wording import short

__all__ = ["Failed", "Timer", "in_words"]

_BETWEEN_LOOKS = 0.1
"""Seconds after which somebody looks again whether the present call takes too long."""

_GRACE = 1.0
"""Seconds that work which is told to stop may take to do so."""


@final
class Failed(Exception):
    """What a check has against the code under it: one sentence, and the case that shows it."""

    check = ""
    """What it breaks, where that is another check than the one that came upon it."""

    def __init__(self, sentence: str, **case: Any) -> None:
        self.sentence, self.case = sentence, case

    def of(self, check: str) -> "Failed":
        """Name the check that it breaks."""
        self.check = check
        return self


@final
class _TimedOut(BaseException):
    """Thrown into a thread that has to stop; no ``except Exception`` holds it up."""


@final
class Timer:
    """Looks at how long the present call takes.

    Parameters
    ----------
    timeout
        Seconds that one call may take.

    Attributes
    ----------
    hung
        Whether some call did not return in time.
    """

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self.hung = False
        self._since: float | None = None
        self._limit = timeout
        self._case: dict[str, Any] = {}

    def call(self, function: Callable[..., Any], *args: Any, case: dict[str, Any], times: float = 1.0) -> Any:
        """Call the function, with so many times the timeout; whatever it raises becomes ``Failed``, with the case."""
        self._case, self._since, self._limit = case, time.monotonic(), times * self.timeout
        try:
            return function(*args)
        except Failed:  # what it was handed found something wrong
            raise
        except Exception as error:
            raise Failed(f"raised {in_words(error)}", **case) from error
        except (SystemExit, KeyboardInterrupt) as error:
            raise Failed(f"raised {type(error).__name__}, which ends the program", **case) from error
        finally:
            self._since = None

    def over(self, work: Callable[[], Any]) -> Any:
        """Do work that makes such calls, in a thread of its own; ``Failed`` if one of them does not return."""
        outcome: list[Any] = []
        context = contextvars.copy_context()

        def worker() -> None:
            try:
                outcome.append((True, context.run(work)))
            except BaseException as error:  # handed on to whoever waits
                outcome.append((False, error))

        global_states = random.getstate(), np.random.get_state()  # noqa: NPY002 (other people's code may use it)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a verdict should not depend on who listens
            thread = threading.Thread(target=worker, daemon=True)
            thread.start()
            self._wait(thread)
        random.setstate(global_states[0])
        np.random.set_state(global_states[1])  # noqa: NPY002
        if not outcome or isinstance(outcome[0][1], _TimedOut):
            self.hung = True
            raise Failed(f"did not return within {self._limit:g} s", **self._case)
        returned, value = outcome[0]
        if returned:
            return value
        raise value

    def _wait(self, thread: threading.Thread) -> None:
        try:
            while thread.is_alive():
                thread.join(timeout=_BETWEEN_LOOKS)
                since = self._since
                if since is not None and time.monotonic() - since > self._limit:
                    break
            else:
                return
        except KeyboardInterrupt:  # whoever waits has no timeout left
            _throw_into(thread)
            raise
        _throw_into(thread)
        thread.join(timeout=_GRACE)


def _throw_into(thread: threading.Thread) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_TimedOut))


def in_words(error: BaseException) -> str:
    """Say an exception in one short line.

    >>> in_words(ZeroDivisionError("division by zero"))
    'ZeroDivisionError: division by zero'
    """
    try:
        text = " ".join(str(error).split())
    except Exception:  # an error that cannot even be printed
        text = ""
    return f"{type(error).__name__}: {text if len(text) < 200 else short(text)}".rstrip(": ")
