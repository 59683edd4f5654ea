"""``check``: check a saved certificate of a worst case."""

import argparse
import re
from collections.abc import Iterator

from fedtheory._support.console import say
from fedtheory._support.progress import announced
from fedtheory.formal.coq import NotChecked, check_by_coq
from fedtheory.worst_case.checker import printing
from fedtheory.worst_case.formal_theorems import file_of_certificate

__all__ = ["check_certificate"]

NAME = "worst_case"
SECONDS = 600.0


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
        with announced("Coq compiles its files on worst cases and checks the proof, in about 20 s of processor time"):
            version = check_by_coq(text, SECONDS)
    except (NotChecked, ValueError) as error:
        say(f"not checked: {error}")
        return 2
    say(f"proved: Coq {version} accepts the proof, from the axioms of the real numbers", "", *_statements(text))
    return 0


def _statements(text: str) -> Iterator[str]:
    """Yield the theorems of a file without their proofs."""
    for found in re.findall(r"^Theorem .*?\n(?=Proof\.)", text, re.DOTALL | re.MULTILINE):
        yield from found.splitlines()
