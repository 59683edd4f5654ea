"""What bits of a result can depend on beside its inputs: versions, the machine, and the state of the user's code."""

import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

from fedtheory._releases import made_by

__all__ = ["changes", "surroundings"]

_PATIENCE = 5.0


def surroundings(*libraries: str) -> dict[str, str]:
    """Return versions of fedtheory, Python, NumPy, SciPy, Numba and more libraries, the machine, and the git commit.

    The commit is that of the working directory, with ``-dirty`` where files differ from it, and missing where there is
    none. The processor is named as the compiler does, which chooses vector instructions by it.
    """
    from llvmlite.binding import get_host_cpu_name

    found = {name: version(name) for name in ("numpy", "scipy", "numba", *libraries)}
    machine = {"platform": platform.platform(), "processor": f"{platform.machine()} {get_host_cpu_name()}"}
    commit = _commit()
    return {
        "fedtheory": made_by(),
        "python": platform.python_version(),
        **found,
        **machine,
        **({"git commit": commit} if commit else {}),
    }


def changes(then: dict[str, str], now: dict[str, str]) -> tuple[str, ...]:
    """Say what differs between two surroundings, one sentence each.

    >>> changes({"numpy": "2.0", "python": "3.11"}, {"numpy": "2.1", "python": "3.11"})
    ('numpy was 2.0, is 2.1',)
    """
    names = dict.fromkeys((*then, *now))
    return tuple(
        f"{name} was {then.get(name, 'none')}, is {now.get(name, 'none')}"
        for name in names
        if then.get(name) != now.get(name)
    )


def _commit() -> str:
    command = ["git", "-C", str(Path.cwd()), "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
