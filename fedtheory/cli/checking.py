"""``check``: what a saved certificate of a worst case proves."""

import argparse

from fedtheory._support.console import say
from fedtheory.worst_case import checker

__all__ = ["check_certificate"]


def check_certificate(arguments: argparse.Namespace) -> int:
    """Say what a certificate proves, or why it proves nothing; the code is the checker's own."""
    sentence, code = checker.main([str(arguments.file)])
    say(sentence)
    return code
