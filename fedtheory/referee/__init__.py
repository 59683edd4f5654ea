"""Referee of a theorem: statement, verdict, tightness, loose summands, closed form, machine check, citation.

The theorem is a bound (``fedtheory.theorem.states``). Its method is a function of the bound's arguments that returns a
``worst_case.Problem``, and its domain is a function that returns inequalities between the constants, both as
``worst_case.closed_form`` takes them. Claims are checks on instances. A section that cannot be filled states why.
"""

import importlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from fedtheory._support import validate
from fedtheory.claims import catalogue
from fedtheory.errors import AssumptionViolated, OracleError
from fedtheory.referee.all_constants import for_all_constants
from fedtheory.referee.citation import cited
from fedtheory.referee.clock import Clock
from fedtheory.referee.loose_summands import coefficients_of, loosest
from fedtheory.referee.machine_check import checked
from fedtheory.referee.review import (
    Citation,
    ForAllConstants,
    LooseSummands,
    MachineCheck,
    Missing,
    Review,
    StatedTheorem,
    Tightness,
    Verdict,
)
from fedtheory.referee.statement import stated
from fedtheory.referee.subject import Subject, claims_about, subject_of_file
from fedtheory.referee.tightness import mapped
from fedtheory.referee.verdict import decided, with_proof
from fedtheory.theorem.bound import Bound
from fedtheory.theorem.claims import Claim
from fedtheory.worst_case import Problem

__all__ = [
    "Citation", "ForAllConstants", "LooseSummands", "MachineCheck", "Missing", "Review", "StatedTheorem", "Tightness",
    "Verdict", "referee",
]  # fmt: skip

Section = TypeVar("Section")


def referee(
    theorem: Bound | str | Path,
    method: Callable[..., Problem] | None = None,
    domain: Callable[..., Any] | None = None,
    *,
    state: Callable[..., Any] | None = None,
    claims: Iterable[Claim] | None = None,
    name: str | None = None,
    out: str | Path | None = None,
    seconds: float = 120.0,
    seed: int = 0,
    report: Callable[[str], Any] = lambda _: None,
) -> Review:
    """Review a theorem: whether it is true, how tight it is, and what is true for all constants.

    Parameters
    ----------
    theorem
        A bound, or a Python file with one, which is executed. A file may also define ``method``, ``domain``, ``state``
        and claims.
    method
        Function of the bound's arguments that returns a problem with an objective. Arguments with a default are
        constants that a scaling removes, such as ``L=1``, and counts; a map may vary ``local_steps``. Conditions with
        the names of the bound's constants give the coefficients of section 4. Bounds of the library may declare
        their worst case.
    domain
        Function of the method's arguments without a default that returns inequalities, such as ``[0 < mu, mu < 1]``.
    state
        Function of the bound's arguments that returns a problem and a state for ``worst_case.rate``, and optionally a
        dict with its other arguments.
    claims
        Claims, of which those about the bound are used; by default those of the file or of the package.
    name
        Name of the theorem in a file with several.
    out
        Folder for certificates and the Coq file. Files of an earlier review are replaced.
    seconds
        Time for all sections. Sections without time are missing, and say so; Ctrl-C also keeps what is done.
    seed
        Seed of instances and constants.
    report
        Function that receives lines about the progress.

    Raises
    ------
    ValueError
        If the file cannot be run or has no such theorem, or the arguments of the functions do not match.
    """
    for library in ("cvxpy", "scipy.optimize", "sympy"):  # before a time limit could interrupt their import
        importlib.import_module(library)
    clock = Clock(validate.positive("seconds", seconds), report)
    seed, folder = validate.count("seed", seed, 0), None if out is None else Path(out)
    if isinstance(theorem, Bound):
        if claims is None:  # statement.function names a bound of the package
            claims = catalogue.known_claims().values() if theorem.statement.function else ()
        subject = Subject(theorem, claims_about(theorem, claims), method, domain, state, seed=seed)
    else:
        subject = subject_of_file(Path(theorem), name, seed)

    # 1. What the theorem says, and whether its hypotheses can hold together.
    statement = _section(clock, "1 statement", 0.2, lambda: stated(subject))
    # 2. Whether instances or exact worst cases refute it.
    verdict = _section(clock, "2 verdict", 1.0, lambda: decided(subject, clock))
    # 3. How far the bound is above the exact worst case, on a map of two constants.
    tightness = _section(clock, "3 tightness", 1.0, lambda: mapped(subject, clock))
    # 4. Which coefficient of the bound is larger than the proof of the worst case needs, where the bound is loosest.
    cell = loosest(tightness)
    point = cell.constants if cell else next(iter(subject.points), {})
    loose = _section(clock, "4 loose summands", 0.3, lambda: coefficients_of(subject, point))
    # 5. The worst case for all constants. A bound that is proved to be at least that is proved.
    general = _section(clock, "5 closed form", 1.0, lambda: for_all_constants(subject, point, clock))
    form = Missing(general.reason) if isinstance(general, Missing) else general.closed_form
    if not isinstance(verdict, Missing) and not isinstance(form, Missing):
        verdict = with_proof(verdict, form)
    # 6. Files that the checker and Coq verify.
    saved = {"worst_case.json": point}
    if isinstance(verdict, Verdict) and verdict.counterexample and verdict.counterexample.origin == "worst case":
        saved = {"counterexample.json": verdict.counterexample.constants, **saved}
    machine = _section(clock, "6 machine check", 1.0, lambda: checked(subject, saved, form, folder, clock))
    # 7. What a review can quote.
    citation = cited(subject, verdict, tightness, form, machine, point, folder, clock)
    return Review(subject.bound.__name__, subject.file, seed, seconds, clock.seconds, statement, verdict, tightness,
                  loose, general, machine, citation)  # fmt: skip


def _section(clock: Clock, title: str, share: float, work: Callable[[], Section | Missing]) -> Section | Missing:
    """Return a section for a share of the time that is left, or why it is missing; none is begun after Ctrl-C."""
    if clock.ended == "interrupted" or not clock.left:
        return Missing(clock.ended or f"the time of {clock.budget:g} seconds was over")
    found: Section | Missing | None = None
    with clock.limit(share):
        clock.say(title)
        try:
            found = work()
        except (AssumptionViolated, OracleError, ValueError) as error:
            found = Missing(" ".join(str(error).split()))
    return Missing(clock.ended) if found is None else found


def __dir__() -> list[str]:
    return __all__
