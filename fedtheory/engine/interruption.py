"""Ctrl-C in the middle of a run."""

from typing import final

from fedtheory.engine.trajectory import Trajectory

__all__ = ["Interrupted"]


@final
class Interrupted(KeyboardInterrupt):
    """Ctrl-C in a run.

    Attributes
    ----------
    finished
        The replicates that were finished, in the order of their seeds from the first one on; None if there were none.
    """

    def __init__(self, finished: Trajectory | None) -> None:
        self.finished = finished
        count = 0 if finished is None else len(finished.counts)
        KeyboardInterrupt.__init__(self, f"interrupted after {count} replicates")
