"""The verdict on a certificate: the sides that its proofs prove."""

import hashlib
import json
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from ._problem import Problem
from ._proofs import lower_bound, upper_bound
from ._reading import FORMAT, Refused, array, fields, rational


class Case(NamedTuple):
    """Proved bounds of the value of a problem, and whether it is proved to be empty."""

    lower: Fraction | None
    upper: Fraction | None
    is_empty: bool
    problem: Problem


class Verdict(NamedTuple):
    """Proved bounds of the largest value of all problems."""

    lower: Fraction | None
    upper: Fraction | None
    cases: list[Case]


def check(document: Any) -> Verdict:
    """Return the lower and the upper bound that a certificate proves; a side without a proof is None."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise Refused(f"its format is not {FORMAT!r}")
    _, cases, checksum = fields(document, "a certificate", ("format", "cases", "checksum"))
    said = json.dumps({"format": FORMAT, "cases": cases}, sort_keys=True)
    if checksum != hashlib.sha256(said.encode()).hexdigest():
        raise Refused("it was changed after it was written: its checksum is another")
    found = [check_case(case) for case in array(cases, "cases")]
    possible = [case for case in found if not case.is_empty]
    if not possible:
        raise Refused("nothing fulfills its problems")
    lowers = [case.lower for case in possible if case.lower is not None]
    uppers = [case.upper for case in possible if case.upper is not None]
    lower, upper = max(lowers, default=None), max(uppers) if len(uppers) == len(possible) else None
    if lower is None and upper is None:
        raise Refused("it has neither multipliers nor a point")
    return Verdict(lower, upper, found)


def check_case(case: Any) -> Case:
    """Return what the proof of a problem proves."""
    written, proof = fields(case, "a case", ("problem", "proof"))
    problem, lower, upper = Problem(written), None, None
    sides = {"upper", "multipliers"}, {"lower", "point"}, {"empty"}
    if not isinstance(proof, dict) or any(0 < len(side & {*proof}) < len(side) for side in sides):
        raise Refused("a side has no proof, or a proof no side")
    if {*proof} - set[str]().union(*sides) or ("empty" in proof and len(proof) > 1):
        raise Refused("a proof has parts that are not read")
    if "empty" in proof and upper_bound(problem, proof["empty"], of_objective=False) >= 0:
        raise Refused("its multipliers do not contradict anything")
    if "multipliers" in proof:
        upper = upper_bound(problem, proof["multipliers"])
        if rational(proof["upper"], "upper") != upper:
            raise Refused(f"its multipliers prove at most {digits(upper, ROUND_CEILING)}, which is not what it says")
    if "point" in proof:
        lower = lower_bound(problem, proof["point"])
        if rational(proof["lower"], "lower") != lower:
            raise Refused(f"its point proves at least {digits(lower, ROUND_FLOOR)}, which is not what it says")
    return Case(lower, upper, "empty" in proof, problem)


def digits(number: Fraction | None, rounding: str) -> str:
    """Return twelve digits of a number, rounded in the direction in which the statement remains true."""
    context = Context(prec=12, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return "" if number is None else f"{context.divide(Decimal(number.numerator), Decimal(number.denominator)):g}"
