"""Check of a file of theorems by Coq."""

import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from fedtheory.formal.theorems import AXIOMS, FOLDER, FOUNDATION

__all__ = ["NotChecked", "check_by_coq"]

OLDEST = (8, 16)
INSTALL = "coqc must be installed (Debian and Ubuntu: apt-get install coq; elsewhere: opam install coq)"


class NotChecked(Exception):
    """Why Coq did not check a theorem."""


def check_by_coq(text: str, seconds: float) -> str:
    """Compile the foundation and a file of theorems in a new folder; return the version of Coq.

    Raises
    ------
    NotChecked
        If Coq is missing or too old, does not end in time, rejects the file, or a theorem rests on an axiom that is
        not one of the real numbers.
    """
    if shutil.which("coqc") is None:
        raise NotChecked(INSTALL)
    with tempfile.TemporaryDirectory() as folder:
        clock = seconds, time.monotonic() + seconds
        version = next(iter(re.findall(r"\d+\.\d[.\d]*", _run(folder, clock, "coqc", "--print-version"))), "0.0")
        if tuple(map(int, version.split(".")[:2])) < OLDEST:
            oldest = ".".join(map(str, OLDEST))
            raise NotChecked(f"coqc must be of version {oldest} or newer, got {version}")
        for name in FOUNDATION:
            shutil.copyfile(FOLDER / f"{name}.v", Path(folder, f"{name}.v"))
            _run(folder, clock, "coqc", "-q", "-R", ".", "FedTheory", f"{name}.v")
        names = re.findall(r"^Theorem (\w+)", text, re.MULTILINE)
        together = ", ".join(f"@{name}" for name in names)
        question = f"{text}\nDefinition all_theorems := ({together}).\nPrint Assumptions all_theorems.\n"
        Path(folder, "Exported.v").write_text(question, encoding="utf-8")
        answer = _run(folder, clock, "coqc", "-q", "-R", ".", "FedTheory", "Exported.v")
    if "Axioms:\n" not in answer:
        raise NotChecked("coqc must list the axioms of a theorem, got no list")
    assumed = set(re.findall(r"^([\w.]+)(?: :|$)", answer.partition("Axioms:\n")[2], re.MULTILINE))
    if assumed - AXIOMS:
        others = ", ".join(sorted(assumed - AXIOMS))
        raise NotChecked(f"a theorem must rest on the axioms of the reals, got {others} too")
    return version


def _run(folder: str, clock: tuple[float, float], *command: str) -> str:
    """Run a command with a time limit, and return its output."""
    seconds, end = clock
    try:
        answer = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=max(end - time.monotonic(), 0.1)
        )
    except subprocess.TimeoutExpired:
        raise NotChecked(f"coqc must end within {seconds:.0f} seconds, got no answer by then") from None
    if answer.returncode:
        line = next((one for one in answer.stderr.splitlines() if one and not one.startswith("File ")), "no message")
        raise NotChecked(f"coqc must accept {command[-1]}, got {line}")
    return answer.stdout
