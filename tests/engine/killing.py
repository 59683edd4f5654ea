"""A run that is killed after every round, and begun again from its file each time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fedtheory.engine import _execution, _replicates


class Killed(Exception):
    """What stands for SIGKILL right after the file was written."""


def killed_after_every_round(run: Callable[..., Any], path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, int]:
    """The trajectory of ``run(checkpoint=path)`` called as often as it takes, and how often it was killed."""
    advance, save = _replicates.advance, _execution.save_checkpoint

    def one_round(template: Any, state: Any) -> Any:
        template.plan.stop[0] = True
        return advance(template, state)

    def last_words(*arguments: Any) -> None:
        save(*arguments)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(_execution, "advance", one_round)
        patch.setattr(_execution, "save_checkpoint", last_words)
        for times in range(1000):
            try:
                return run(checkpoint=path, num_threads=1), times
            except Killed:
                continue
    message = "the run does not get on"
    raise AssertionError(message)
