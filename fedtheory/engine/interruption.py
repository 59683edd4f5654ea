"""Exception for a run that is interrupted by Ctrl-C."""

import atexit
import contextlib
import os
import signal
import sys
from typing import final

from fedtheory.engine.trajectory import Trajectory

__all__ = ["Interrupted"]


@final
class Interrupted(KeyboardInterrupt):
    """Exception raised if Ctrl-C interrupts a run.

    A script that does not catch it ends by the signal, as by any KeyboardInterrupt: a shell ends its loop, too.

    Attributes
    ----------
    finished
        The replicates that were finished, in the order of their seeds from the first one on; None if there were none.
    """

    def __init__(self, finished: Trajectory | None) -> None:
        self.finished = finished
        count = 0 if finished is None else len(finished.counts)
        KeyboardInterrupt.__init__(self, f"interrupted after {count} replicates")


@atexit.register
def _end_by_the_signal() -> None:
    # The interpreter does so for KeyboardInterrupt itself only, and ends with 1 for a class made of it.
    if getattr(sys, "last_type", None) is not Interrupted or hasattr(sys, "ps1") or sys.platform == "win32":
        return
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.flush()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)
