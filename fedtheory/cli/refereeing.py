"""``referee``: review a theorem in a file."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from fedtheory._support.console import warn
from fedtheory.cli.documents import write_pairs
from fedtheory.cli.refusals import refuse, refuse_below
from fedtheory.referee import referee, rendering
from fedtheory.referee.review import ForAllConstants, MachineCheck, Missing, Review

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
    write_pairs([*_findings(review), ("report", ", ".join(map(str, files)))])
    return review.exit_code


def _findings(review: Review) -> Iterator[tuple[str, str]]:
    """Yield the finding of each section."""
    for name in ("statement", "tightness", "loose_summands"):
        section = getattr(review, name)
        yield name.replace("_", " "), _reason(section) if isinstance(section, Missing) else section.remark
        if name == "statement":
            yield from _verdict(review)
    general = review.for_all_constants
    form = general.closed_form if isinstance(general, ForAllConstants) else general
    yield "closed form", _reason(form) if isinstance(form, Missing) else f"{form.text} where {', '.join(form.domain)}"
    if isinstance(general, ForAllConstants) and not isinstance(general.rate, Missing):
        yield "rate", general.rate.text.splitlines()[-1]
    machine = review.machine_check
    if not isinstance(machine, MachineCheck):
        yield "machine check", _reason(machine)
        return
    yield from (("machine check", f"{one.file}: {one.answer}") for one in machine.certificates)
    coq = machine.coq
    yield "machine check", _reason(coq) if isinstance(coq, Missing) else f"{coq.file}: {coq.answer}"


def _verdict(review: Review) -> Iterator[tuple[str, str]]:
    if isinstance(review.verdict, Missing):
        yield "verdict", _reason(review.verdict)
        return
    yield "verdict", review.verdict.word
    if (found := review.verdict.counterexample) is not None:
        yield "verdict", found.text
    yield from (("verdict", remark) for remark in review.verdict.remarks)


def _reason(missing: Missing) -> str:
    return f"missing: {missing.reason}"
