"""``check``: check a saved certificate of a worst case."""

import argparse

from fedtheory._support.console import say
from fedtheory.worst_case import checker

__all__ = ["check_certificate"]


def check_certificate(arguments: argparse.Namespace) -> int:
    """Report what a certificate proves, or why it proves nothing; return the checker's exit code."""
    sentence, code = checker.main([str(arguments.file)])
    say(sentence)
    return code
