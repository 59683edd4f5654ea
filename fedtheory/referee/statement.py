"""Section 1: what the theorem says, and constants and an instance that fulfill its hypotheses."""

import contextlib
from collections.abc import Mapping
from typing import Any

from fedtheory.referee.review import StatedTheorem, Summand, named
from fedtheory.referee.subject import Subject, complexity
from fedtheory.theorem.letters import mathml
from fedtheory.verification import reproduce

__all__ = ["stated"]

_TRIED = 20


def stated(subject: Subject) -> StatedTheorem:
    """Return the statement, with the simplest constants that fulfill all hypotheses, and an instance."""
    bound = subject.bound
    constants = min(subject.points, key=complexity, default={})
    found, tried = _instance(subject)
    if constants:
        remark = f"the hypotheses about numbers hold together at {named(constants)}"
    else:
        remark = "no constants were found at which the hypotheses about numbers hold together"
    if found:
        remark += ", and an instance of the claims fulfills the hypotheses about functions, too"
    elif subject.claims:
        remark += f", and {tried} instances of the claims do not fulfill the hypotheses"
    return StatedTheorem(
        str(bound.statement), bound.statement.basis, bound.left.text if bound.left else "", bound.relation,
        _summands(subject), tuple(one.text for one in bound.hypotheses), subject.domain_texts, constants, found, remark,
    )  # fmt: skip


def _summands(subject: Subject) -> tuple[Summand, ...]:
    bound = subject.bound
    try:
        terms = bound.symbolic_terms()
    except Exception:  # a formula with sequences, or with branches on numbers, has no symbolic form
        return ()
    return tuple(Summand(name, str(one), mathml(bound, one)) for name, one in terms.items())


def _instance(subject: Subject) -> tuple[Mapping[str, Any], int]:
    """Return an instance of a claim on which the hypotheses hold, and the number of instances that were drawn."""
    tried = 0
    for claim in subject.claims:
        for number in range(1 if claim.is_single else _TRIED):
            with contextlib.suppress(Exception):  # section 2 reports the errors of a check
                tried += 1
                finding = reproduce(claim, subject.seed, number)
                if finding.applicable and finding.instance:
                    return finding.instance, tried
    return {}, tried
