"""``check``: check a saved certificate of a worst case."""

import argparse
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from fedtheory._support.console import say
from fedtheory.formal import AXIOMS, FOLDER, FOUNDATION
from fedtheory.worst_case.checker import printing
from fedtheory.worst_case.formal_theorems import file_of_certificate

__all__ = ["check_certificate"]

NAME = "worst_case"
OLDEST = (8, 16)
SECONDS = 600.0
INSTALL = "coqc must be installed for --coq (Debian and Ubuntu: apt-get install coq; elsewhere: opam install coq)"


class _NotChecked(Exception):
    """Why Coq did not check a theorem."""


def check_certificate(arguments: argparse.Namespace) -> int:
    """Report what a certificate proves, or why it proves nothing; return the checker's exit code."""
    if arguments.coq and arguments.file.suffix == ".v":
        say("not read: --coq must be given a certificate (worst.save), since a file of Coq may contain any command")
        return 2
    sentence, code = printing.main([str(arguments.file)])
    if code or not arguments.coq:
        say(sentence)
        return code
    try:
        # The theorem is written again, so that Coq runs only the statement below and its proof.
        text = file_of_certificate(arguments.file, NAME)
        version = _checked_by_coq(text)
    except (_NotChecked, ValueError) as error:
        say(f"not checked: {error}")
        return 2
    say(f"proved: Coq {version} accepts the proof, from the axioms of the real numbers", "", *_statements(text))
    return 0


def _statements(text: str) -> Iterator[str]:
    """Yield the theorems of a file without their proofs."""
    for found in re.findall(r"^Theorem .*?\n(?=Proof\.)", text, re.DOTALL | re.MULTILINE):
        yield from found.splitlines()


def _checked_by_coq(text: str) -> str:
    """Compile the foundation and a file of theorems in a new folder; return the version of Coq."""
    if shutil.which("coqc") is None:
        raise _NotChecked(INSTALL)
    with tempfile.TemporaryDirectory() as folder:
        end = time.monotonic() + SECONDS
        version = next(iter(re.findall(r"\d+\.\d[.\d]*", _run(folder, end, "coqc", "--print-version"))), "0.0")
        if tuple(map(int, version.split(".")[:2])) < OLDEST:
            oldest = ".".join(map(str, OLDEST))
            raise _NotChecked(f"coqc must be of version {oldest} or newer, got {version}")
        for name in FOUNDATION:
            shutil.copyfile(FOLDER / f"{name}.v", Path(folder, f"{name}.v"))
            _run(folder, end, "coqc", "-q", "-R", ".", "FedTheory", f"{name}.v")
        names = re.findall(r"^Theorem (\w+)", text, re.MULTILINE)
        together = ", ".join(f"@{name}" for name in names)
        question = f"{text}\nDefinition all_theorems := ({together}).\nPrint Assumptions all_theorems.\n"
        Path(folder, "Exported.v").write_text(question, encoding="utf-8")
        answer = _run(folder, end, "coqc", "-q", "-R", ".", "FedTheory", "Exported.v")
    if "Axioms:\n" not in answer:
        raise _NotChecked("coqc must list the axioms of a theorem, got no list")
    assumed = set(re.findall(r"^([\w.]+)(?: :|$)", answer.partition("Axioms:\n")[2], re.MULTILINE))
    if assumed - AXIOMS:
        raise _NotChecked(
            f"a theorem must rest on the axioms of the reals, got {', '.join(sorted(assumed - AXIOMS))} too"
        )
    return version


def _run(folder: str, end: float, *command: str) -> str:
    """Run a command with a time limit, and return its output."""
    try:
        answer = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=max(end - time.monotonic(), 0.1)
        )
    except subprocess.TimeoutExpired:
        raise _NotChecked(f"coqc must end within {SECONDS:g} seconds, got no answer by then") from None
    if answer.returncode:
        line = next((one for one in answer.stderr.splitlines() if one and not one.startswith("File ")), "no message")
        raise _NotChecked(f"coqc must accept {command[-1]}, got {line}")
    return answer.stdout
