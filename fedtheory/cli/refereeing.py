"""``referee``: review a theorem in a file."""

import argparse
from pathlib import Path

from fedtheory._support.console import warn
from fedtheory.cli.documents import write_pairs
from fedtheory.cli.refusals import refuse, refuse_below
from fedtheory.referee import referee, rendering

__all__ = ["referee_file"]


def referee_file(arguments: argparse.Namespace) -> int:
    """Write the review of a theorem and print its findings; 1 if the theorem is refuted, 3 if that is undecided."""
    refuse_below(arguments, seed=0)
    if not 0 < arguments.seconds < float("inf"):
        refuse(f"--seconds must be finite and above 0, got {arguments.seconds}")
    folder = arguments.out or Path(f"{arguments.file.stem}-review")
    try:
        review = referee(
            arguments.file, name=arguments.theorem, out=folder, seconds=arguments.seconds, seed=arguments.seed,
            report=warn,
        )  # fmt: skip
    except ValueError as error:
        refuse(str(error))
    files = rendering.save(review, folder)
    findings = [(section.title, section.blocks[0].content) for section in rendering.sections(review)]
    write_pairs([*findings, ("Report", ", ".join(map(str, files)))])
    return review.exit_code
