"""Section 6: certificates for the checker, and a theorem for Coq."""

from collections.abc import Mapping
from pathlib import Path

from fedtheory.errors import AssumptionViolated, OracleError
from fedtheory.formal.coq import NotChecked, check_by_coq
from fedtheory.referee.clock import Clock
from fedtheory.referee.review import Certificate, ClosedFormFound, Constants, CoqFile, MachineCheck, Missing
from fedtheory.referee.subject import Subject
from fedtheory.worst_case.checker import printing

__all__ = ["checked"]

_LEAST = 5.0
_MARGIN = 3.0
"""Seconds that a run of Coq must have, and seconds that are left after it."""


def checked(
    subject: Subject, saved: Mapping[str, Constants], form: ClosedFormFound | Missing, folder: Path | None, clock: Clock
) -> MachineCheck | Missing:
    """Save the worst cases of some constants by the name of their file, and the theorem; have both checked."""
    if folder is None:
        return Missing("a folder for certificates and the Coq file must be given")
    if subject.why_no_problem:
        return Missing(subject.why_no_problem)
    folder.mkdir(parents=True, exist_ok=True)
    certificates = []
    coq: CoqFile | Missing = Missing("there is no worst case whose theorem could be written")
    with clock.limit():
        for name, constants in saved.items():
            clock.say(f"6 machine check: {name}")
            try:
                subject.compared(constants).worst_case.save(folder / name)
            except (ValueError, OracleError, AssumptionViolated) as error:
                certificates.append(Certificate(name, constants, False, f"not written: {error}"))
                continue
            sentence, code = printing.main([str(folder / name)])
            certificates.append(Certificate(name, constants, code == 0, sentence.partition("\n")[0]))
        coq = _by_coq(subject, saved, form, folder, clock)
    if clock.ended and isinstance(coq, Missing):
        coq = Missing(clock.ended)
    return MachineCheck(tuple(certificates), coq)


def _by_coq(
    subject: Subject, saved: Mapping[str, Constants], form: ClosedFormFound | Missing, folder: Path, clock: Clock
) -> CoqFile | Missing:
    """Write the closed form or the last worst case as a theorem, and run Coq in the time that is left."""
    last = [*saved][-1]
    if isinstance(form, Missing):
        name, about, write = "worst_case", f"the upper side of {last}", subject.compared(saved[last]).worst_case.coq
    else:
        name, about, write = "closed_form", "the closed form", form.result.coq
    file = folder / f"{name}.v"
    file.unlink(missing_ok=True)
    try:
        write(file, name)
    except ValueError as error:
        return Missing(f"no theorem was written: {error}")
    seconds = clock.left - _MARGIN
    if seconds < _LEAST:
        return CoqFile(file.name, about, None, f"coqc was not run, since {clock.left:.0f} seconds were left")
    clock.say(f"6 machine check: coqc {file.name}")
    try:
        version = check_by_coq(file.read_text(encoding="utf-8"), seconds)
    except NotChecked as error:
        is_accepted = False if "got Error" in str(error) or "axioms" in str(error) else None
        return CoqFile(file.name, about, is_accepted, str(error))
    return CoqFile(file.name, about, True, f"Coq {version} accepts the proof, from the axioms of the real numbers")
