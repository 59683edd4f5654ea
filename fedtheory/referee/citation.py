"""Section 7: a paragraph for a review, the proof for an appendix, and the commands that repeat everything."""

import shlex
from collections.abc import Iterator
from pathlib import Path

from fedtheory.errors import AssumptionViolated, OracleError
from fedtheory.referee.clock import Clock
from fedtheory.referee.review import Citation, ClosedFormFound, Constants, MachineCheck, Missing, Tightness, Verdict
from fedtheory.referee.subject import Subject
from fedtheory.theorem.paper import BASES

__all__ = ["cited"]

_LEAST = 5.0
"""Seconds for this section when the time of the others is over."""


def cited(
    subject: Subject,
    verdict: Verdict | Missing,
    tightness: Tightness | Missing,
    form: ClosedFormFound | Missing,
    machine: MachineCheck | Missing,
    constants: Constants,
    folder: Path | None,
    clock: Clock,
) -> Citation:
    """Return what a review can quote."""
    sentences = [*_sentences(subject, verdict, tightness, form, machine)]
    paragraph = " ".join(f"{one[0].upper()}{one[1:]}." for one in sentences)
    proof = ""
    with clock.limit(least=_LEAST):
        proof = _proof(subject, form, constants)
    return Citation(paragraph, proof, tuple(_commands(subject, machine, folder, clock.budget)))


def _sentences(
    subject: Subject,
    verdict: Verdict | Missing,
    tightness: Tightness | Missing,
    form: ClosedFormFound | Missing,
    machine: MachineCheck | Missing,
) -> Iterator[str]:
    statement, paper = subject.bound.statement, subject.bound.statement.paper
    yield f"we checked {statement.number} of {paper.title} ({paper.authors}, {paper.year})"
    if statement.basis not in ("printed", "own"):
        yield f"the statement was transcribed {BASES[statement.basis]}, not compared with the text of the paper"
    if isinstance(verdict, Missing):
        yield f"no verdict was reached: {verdict.reason}"
    elif verdict.counterexample is not None:
        yield f"it is refuted: {verdict.counterexample.text}; both numbers are exact"
    else:
        yield (
            f"verdict: {verdict.word}, after {verdict.num_instances} instances and {verdict.num_worst_cases} exact "
            "worst cases"
        )
    if isinstance(tightness, Tightness):
        yield tightness.remark
    if not isinstance(form, Missing):
        yield f"the left-hand side is at most {form.text} for all constants with {', '.join(form.domain)}"
        yield form.comparison
    if isinstance(machine, MachineCheck) and not isinstance(machine.coq, Missing):
        yield f"on {machine.coq.about}, Coq was asked: {machine.coq.answer}"


def _proof(subject: Subject, form: ClosedFormFound | Missing, constants: Constants) -> str:
    """Return the proof of the closed form, or of the worst case at the given constants; empty if there is neither."""
    if not isinstance(form, Missing):
        return form.proof_latex
    try:
        return "" if subject.why_no_problem else subject.compared(constants).worst_case.proof(latex=True)
    except (AssumptionViolated, OracleError, ValueError):
        return ""


def _commands(subject: Subject, machine: MachineCheck | Missing, folder: Path | None, budget: float) -> Iterator[str]:
    if subject.file:
        out = f" --out {shlex.quote(str(folder))}" if folder else ""
        options = f"--theorem {subject.bound.__name__}{out} --seconds {budget:g} --seed {subject.seed}"
        yield f"fedtheory referee {shlex.quote(subject.file)} {options}"
    if isinstance(machine, MachineCheck) and folder:
        yield from (f"fedtheory check {shlex.quote(str(folder / one.file))}" for one in machine.certificates)
