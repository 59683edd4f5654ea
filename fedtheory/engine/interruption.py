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

    A script that does not catch it is ended by the signal, like a script that does not catch KeyboardInterrupt. A loop
    in a shell then ends, too.

    Attributes
    ----------
    finished
        Finished replicates before the first missing one, in the order of their seeds; None if there are none.
    """

    def __init__(self, finished: Trajectory | None) -> None:
        self.finished = finished
        count = 0 if finished is None else len(finished.counts)
        KeyboardInterrupt.__init__(self, f"interrupted after {count} replicates")


@atexit.register
def _end_by_the_signal() -> None:
    # The interpreter does so only for KeyboardInterrupt itself. For a subclass the exit code is 1.
    if getattr(sys, "last_type", None) is not Interrupted or hasattr(sys, "ps1") or sys.platform == "win32":
        return
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.flush()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)
