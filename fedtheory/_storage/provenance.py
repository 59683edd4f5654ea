"""What bits of a result can depend on beside its inputs: versions, the machine, and the state of the user's code."""

import os
import platform
import re
import subprocess
import tempfile
from importlib.metadata import version
from pathlib import Path

from fedtheory._storage.releases import made_by

__all__ = ["changes", "provenance"]

_TIMEOUT = 5.0


def provenance(*libraries: str) -> dict[str, str]:
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
    """Say what differs between two provenances, one sentence each.

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
    """Return the commit of the working directory, without running anything that its folder asks for.

    Git runs what a repository configures: a monitor of files, filters, hooks, helpers that fetch. The folder may be
    somebody else's. So its HEAD is read here, and git compares the files with it under a configuration of our own.
    """
    try:
        found = next(filter(None, map(_repository, (Path.cwd(), *Path.cwd().parents))), None)
        if found is None:
            return ""
        root, own, common = found
        commit = _head(own, common)
        with tempfile.TemporaryDirectory(prefix="fedtheory-git-") as folder:
            return f"{commit}-dirty" if _is_dirty(Path(folder), root, own, common, commit) else commit
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""


def _repository(folder: Path) -> tuple[Path, Path, Path] | None:
    """Return the folder, its own git directory, and the one that it shares with other work trees."""
    own = folder / ".git"
    if own.is_file():
        own = folder / own.read_text(encoding="utf-8").strip().removeprefix("gitdir: ")
    if not (own / "HEAD").is_file():
        return None
    shared = own / "commondir"
    return folder, own, (own / shared.read_text(encoding="utf-8").strip() if shared.is_file() else own)


def _head(own: Path, common: Path) -> str:
    content = (own / "HEAD").read_text(encoding="utf-8").strip()
    name = content.removeprefix("ref: ")
    if name != content:
        packed = common / "packed-refs"
        known = [place / name for place in (own, common) if (place / name).is_file()]
        if known:
            content = known[0].read_text(encoding="utf-8").strip()
        elif packed.is_file():
            lines = packed.read_text(encoding="utf-8").splitlines()
            content = next((line.split()[0] for line in lines if line.endswith(f" {name}")), "")
    if not re.fullmatch("[0-9a-f]{40}", content):
        message = f"HEAD must be a commit, got {content[:60]!r}"
        raise ValueError(message)
    return content


def _is_dirty(folder: Path, root: Path, own: Path, common: Path, commit: str) -> bool:
    """Whether files that git knows differ from the commit, as a repository sees it that borrows its objects only."""
    for name in ("objects/info", "refs"):
        (folder / name).mkdir(parents=True)
    (folder / "HEAD").write_text(f"{commit}\n", encoding="utf-8")
    (folder / "objects" / "info" / "alternates").write_text(f"{(common / 'objects').resolve()}\n", encoding="utf-8")
    known = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    places = {"GIT_DIR": folder, "GIT_WORK_TREE": root, "GIT_INDEX_FILE": (own / "index").resolve()}
    environment = known | {name: str(place) for name, place in places.items()} | {"GIT_NO_LAZY_FETCH": "1"}
    harmless = [f"core.{name}={value}" for name, value in _about_files(common / "config", environment)]
    options = ["core.fsmonitor=false", f"core.hooksPath={os.devnull}", "core.untrackedCache=false", *harmless]
    command = ["git", "--no-optional-locks", *(word for option in options for word in ("-c", option))]
    done = _completed(
        [*command, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all"], environment
    )
    done.check_returncode()
    return bool(done.stdout.strip())


def _about_files(config: Path, environment: dict[str, str]) -> list[tuple[str, str]]:
    """Read from a configuration how files are written, which changes what differs, and nothing that can be run."""
    pattern = r"^core\.(autocrlf|eol|filemode|symlinks|ignorecase|precomposeunicode)$"
    command = ["git", "config", "--file", str(config), "--no-includes", "--get-regexp", pattern]
    lines = _completed(command, environment).stdout.splitlines()
    pairs = (line.removeprefix("core.").partition(" ") for line in lines)
    return [(name, value or "true") for name, _, value in pairs if re.fullmatch("[a-z]*", value)]


def _completed(command: list[str], environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_TIMEOUT,
        check=False,
    )
