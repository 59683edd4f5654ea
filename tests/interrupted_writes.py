"""Programs that are killed, or find the disk full, while they write, as forks of one process.

``python -m tests.interrupted_writes FOLDER`` prints the observations as JSON; ``test_interrupted_writes`` compares them
with the expected ones.
"""

import json
import os
import re
import resource
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import fedtheory as ft
from fedtheory import study
from fedtheory.engine import Trajectory
from tests.test_study import TOY

PLAIN = replace(TOY, figures={})
FIRST, SECOND = (replace(PLAIN.quick, seed=seed) for seed in (0, 1))


def forked(work: Callable[[], Any], *, before: int | None = None, size: int | None = None) -> tuple[int, int]:
    """Do some work in a process that is killed before a step, or cannot write files of a size.

    Returns the number of the process, and a descriptor for what it has to say.
    """
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reading)
        if before is not None:
            die_before(before)
        if size is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        try:
            work()
        except BaseException as error:
            os.write(writing, f"{type(error).__name__}: {error}".encode()[:1000])
        os._exit(0)
    os.close(writing)
    return process, reading


def ended(process: int, reading: int) -> str:
    """Wait for a process; return what it complained of, or ``killed``."""
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    with os.fdopen(reading) as complaints:
        complaint = re.sub(r"/\S+/(runs|studies)\b", "FOLDER", complaints.read())
    return "killed" if status == -signal.SIGKILL else complaint if status == 0 else f"ended with {status}"


def die_before(number: int) -> None:
    """Kill this process before a step of writing: a file is flushed to the disk, or gets its name."""
    done = iter(range(number))

    def mortal(step):
        def taken(*arguments, **options):
            if next(done, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)
            return step(*arguments, **options)

        return taken

    for owner, name in ((os, "fsync"), (os, "link"), (Path, "replace")):
        setattr(owner, name, mortal(getattr(owner, name)))


def killed_at_every_step(work: Callable[[], Any], look: Callable[[], Any]) -> list[Any]:
    """Kill a process before its first step, another before its second, and so on; what is seen after each."""
    seen: list[Any] = []
    while ended(*forked(work, before=len(seen))) == "killed":
        seen.append(look())
    return seen


def left_over(folder: Path) -> list[str]:
    """Files that should have got another name, or none."""
    return sorted(path.name for path in folder.glob(".*.partial"))


def runs(folder: Path) -> dict[str, Any]:
    """Save one run over another, into a new file, and on a full disk."""
    fed = ft.QuadraticFederation([1.0, 1.0], [[0.0], [3.0]], [0.5, 0.5])
    old, new = (ft.fedavg(fed, ft.selection.Full(), num_rounds=9, step_size=size) for size in (0.5, 0.25))
    names = {old.gap.tobytes(): "old", new.gap.tobytes(): "new"}
    path, fresh = folder / "run.nc", folder / "fresh.nc"

    def there(path: Path) -> str:
        return names[Trajectory.load(path).gap.tobytes()] if path.exists() else "nothing"

    def overwrite() -> None:
        new.save(path, overwrite=True)

    old.save(path)
    seen: dict[str, Any] = {"killed at a step": killed_at_every_step(overwrite, lambda: there(path))}
    seen["killed at a step, new file"] = killed_at_every_step(lambda: new.save(fresh), lambda: there(fresh))
    old.save(path, overwrite=True)
    for left in folder.glob(".*"):
        left.unlink()
    seen["full"] = [[ended(*forked(overwrite, size=size)), there(path), left_over(folder)] for size in (0, 1000)]
    return seen


def studies(folder: Path) -> dict[str, Any]:
    """Write the results of a study into an empty folder, and over others."""

    def there() -> str:
        try:
            result = study.load(folder)
        except ValueError as error:
            return str(error).replace(str(folder), "FOLDER")
        return f"whole, seed {result.metadata['config']['seed']}" + " and more" * (len(result.data["heads"]) != 200)

    def produced(config: Any, **options: Any) -> Callable[[], Any]:
        return lambda: study.produce(PLAIN, config, folder, **options)

    seen: dict[str, Any] = {"killed at a step": killed_at_every_step(produced(FIRST), there)}
    seen["killed at a step, over others"] = killed_at_every_step(produced(SECOND, force=True), there)
    seen["again"] = [ended(*forked(produced(FIRST, force=True))), there(), left_over(folder)]
    return seen


if __name__ == "__main__":
    found = {}
    for about in (runs, studies):
        place = Path(sys.argv[1], about.__name__)
        place.mkdir()
        found[about.__name__] = about(place)
    print(json.dumps(found, indent=1))
