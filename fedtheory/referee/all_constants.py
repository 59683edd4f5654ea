"""Section 5: a closed form of the worst case for all constants of the domain, and a rate for all rounds."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from fedtheory.errors import AssumptionViolated, OracleError
from fedtheory.referee.clock import Clock
from fedtheory.referee.review import ClosedFormFound, Constants, ForAllConstants, Missing, RateFound, named
from fedtheory.referee.subject import Subject
from fedtheory.theorem.letters import mathml
from fedtheory.worst_case import ClosedForm, closed_form, rate

__all__ = ["for_all_constants"]

_SHARE = 0.6
"""Share of the time that is left."""
_WIDER, _NARROWER = Fraction(1, 4), Fraction(2)
"""Factors of a constant in the inequalities of the domain, for a wider domain and for a part of it."""


def for_all_constants(subject: Subject, constants: Constants, clock: Clock) -> ForAllConstants | Missing:
    """Return a closed form of the worst case, and a rate at given constants; each may be missing."""
    record: ClosedFormFound | Missing = Missing("method() and domain() must both be given for a closed form")
    if subject.method is not None and subject.domain is not None:
        found, reason = _search(subject, clock)
        record = Missing(reason) if found is None else _recorded(subject, found)
    rated = _rate(subject, constants, clock)
    if isinstance(record, Missing) and isinstance(rated, Missing):
        return Missing(f"{record.reason}; {rated.reason}")
    return ForAllConstants(record, rated)


def _search(subject: Subject, clock: Clock) -> tuple[ClosedForm | None, str]:
    """Return a closed form on the domain, on a wider one, or on a part of it; otherwise the first reason why not."""
    assert subject.method is not None
    reason = ""
    with clock.limit(_SHARE):
        for what, domain in _domains(subject):
            clock.say(f"5 closed form: {what}")
            try:
                return closed_form(subject.method, domain), ""
            except (OracleError, AssumptionViolated, ValueError, TypeError) as error:
                reason = reason or f"no closed form was found: {error}"
    return None, reason or f"no closed form was found: {clock.ended}"


def _domains(subject: Subject) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the domain, then one in which a constant may be larger, or at most half as large; last constants first."""
    yield "on the domain", _scaled(subject, "", Fraction(1))
    for word, factor in (("wider", _WIDER), ("narrower", _NARROWER)):
        for name in reversed(subject.names):
            yield f"on a {word} domain of {name}", _scaled(subject, name, factor)


def _scaled(subject: Subject, name: str, factor: Fraction) -> Callable[..., Any]:
    domain, place = subject.domain, subject.names.index(name) if name else -1
    assert domain is not None

    def relations(*constants: Any) -> Any:
        number = _rational(factor)
        found = domain(*(number * c if k == place else c for k, c in enumerate(constants)))
        return [one.canonical for one in found]

    return relations


def _rational(number: Fraction) -> Any:
    from sympy import Rational

    return Rational(number.numerator, number.denominator)


def _recorded(subject: Subject, found: ClosedForm) -> ClosedFormFound:
    assert subject.domain is not None
    is_whole = found.covers(subject.domain)
    is_below, comparison = _compared_with_bound(subject, found)
    return ClosedFormFound(
        str(found.value), found.domain, is_whole, is_below, comparison,
        found.proof(), found.proof(latex=True), found, mathml(subject.bound, found.value),
    )  # fmt: skip


def _compared_with_bound(subject: Subject, found: ClosedForm) -> tuple[bool, str]:
    """Return whether the bound is proved to be at least the closed form on the domain, and a sentence about it."""
    assert subject.domain is not None
    fixed = {name: _rational(Fraction(value)) for name, value in subject.fixed.items()}
    try:
        value = subject.bound.symbolic()
        value = value.subs({symbol: fixed[symbol.name] for symbol in value.free_symbols if symbol.name in fixed})
        is_below = found.is_at_most(value, subject.allowed)
    except Exception as error:  # the formula is not a rational function
        return False, f"the bound was not compared with it: {' '.join(str(error).split())}"
    where = "on the domain, if the hypotheses hold" + (f", for {named(subject.fixed)}" if fixed else "")
    proved = "the bound is proved to be" if is_below else "it was not proved that the bound is"
    return is_below, f"{proved} at least the closed form of the worst case {where}"


def _rate(subject: Subject, constants: Constants, clock: Clock) -> RateFound | Missing:
    """Return a rate for all numbers of rounds at given constants."""
    if subject.state is None:
        return Missing("state() must be given for a rate over all rounds")
    reason = ""
    with clock.limit(_SHARE / 2):
        clock.say("5 rate for all rounds")
        try:
            problem, state, *options = subject.state(**constants)
            found = rate(problem, state, **(options[0] if options else {}))
        except (OracleError, AssumptionViolated, ValueError, TypeError) as error:
            reason = f"no rate was found: {error}"
        else:
            return RateFound(found.value, constants, found.text)
    return Missing(reason or f"no rate was found: {clock.ended}")
