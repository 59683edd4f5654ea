"""A run that is killed after every round, and begun again from its file each time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fedtheory.engine import _checkpoints, _pace, _replicates


class Killed(Exception):
    """What stands for SIGKILL right after the file was written."""


def killed_after_every_round(run: Callable[..., Any], path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, int]:
    """The trajectory of ``run(checkpoint=path)`` called as often as it takes, and how often it was killed."""
    advanced, keep = _replicates.advanced, _checkpoints.keep

    def one_round(blank: Any, state: Any) -> Any:
        blank.plan.stop[0] = True
        return advanced(blank, state)

    def last_words(*arguments: Any) -> None:
        keep(*arguments)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(_pace, "advanced", one_round)
        patch.setattr(_pace, "keep", last_words)
        for times in range(1000):
            try:
                return run(checkpoint=path, num_threads=1), times
            except Killed:
                continue
    message = "the run does not get on"
    raise AssertionError(message)
