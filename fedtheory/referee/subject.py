"""What is refereed: a bound with its method, the domain of its constants and claims, from a file or from objects."""

import inspect
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path
from typing import Any, final

import numpy as np

from fedtheory._support.wording import suggest, truncate
from fedtheory.claims import catalogue
from fedtheory.instances.constants import draw_constants, draw_worst_case
from fedtheory.referee.review import Constants, named
from fedtheory.theorem.assumptions import Hypothesis
from fedtheory.theorem.bound import Bound, is_bound
from fedtheory.theorem.claims import Claim
from fedtheory.theorem.worst_case_problem import WorstCaseProblem
from fedtheory.worst_case import Comparison, Problem, compared

__all__ = ["Subject", "subject_of_file"]

_DRAWN = 200
"""Points of the domain that are drawn; the simplest of them are tried for a small counterexample."""
_MOST_DRAWS = 5_000
_SCALES = (1, 1, 4, 16)


@final
@dataclass(frozen=True, eq=False)
class Subject:
    """A theorem with all that the sections read; the functions are those of ``referee``."""

    bound: Bound
    claims: tuple[Claim, ...] = ()
    method: Callable[..., Problem] | None = None
    domain: Callable[..., Any] | None = None
    state: Callable[..., Any] | None = None
    file: str = ""
    seed: int = 0
    _known: dict[Any, Comparison] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.method is not None:
            mine, given = {*self.bound.domains}, {*inspect.signature(self.method).parameters}
            if mine != given:
                message = f"method must take the arguments of the bound, {', '.join(sorted(mine))}"
                raise ValueError(f"{message}, got {', '.join(sorted(given)) or 'none'}")
        if self.domain is not None and [*inspect.signature(self.domain).parameters] != self.names:
            message = f"domain must take the arguments of method without a default, {', '.join(self.names)}"
            raise ValueError(f"{message}, got {', '.join(inspect.signature(self.domain).parameters) or 'none'}")
        _checked("domain", "a list of inequalities", lambda: self.domain_texts)
        if self.method is not None and self.points:
            where = f"a Problem at {named(self.points[0])}"
            found = _checked("method", where, partial(self.method, **self.points[0]))
            if not isinstance(found, Problem) or not found.objectives:
                message = f"method must return {where} that maximizes something, got {truncate(found)}"
                raise ValueError(message)

    @cached_property
    def fixed(self) -> Constants:
        """Arguments of the method with a default."""
        parameters = inspect.signature(self.method).parameters if self.method else {}
        return {name: one.default for name, one in parameters.items() if one.default is not one.empty}

    @cached_property
    def names(self) -> list[str]:
        """Names of the constants that vary."""
        order = inspect.signature(self.method).parameters if self.method else self.bound.domains
        return [name for name in order if name not in self.fixed]

    @cached_property
    def problem(self) -> WorstCaseProblem | None:
        """The worst-case problem: that of the method, or that of a bound of the library."""
        if self.method is None:
            return self.bound.worst_case
        method = self.method
        return WorstCaseProblem(lambda _, given: method(**given).solve())

    @cached_property
    def why_no_problem(self) -> str:
        """Why there is no exact worst case; empty if there is one."""
        if self.bound.relation == ">=":
            return "a worst case is compared with upper bounds only, and this is a lower bound"
        if self.problem is None:
            return "no method() is given, and the bound has no worst case"
        return "" if self.points else f"no constants that fulfill the hypotheses were found {self._searched}"

    @property
    def _searched(self) -> str:
        how = "on the domain" if self.domain else "among the library's random constants (domain() names others)"
        return f"{how} in {_MOST_DRAWS if self.domain else _DRAWN} draws"

    @cached_property
    def points(self) -> Sequence[Constants]:
        """Constants that fulfill the hypotheses and the domain, in random order; empty if none were found."""
        found = ({**self.fixed, **drawn} for drawn in self._drawn())
        distinct: dict[str, Constants] = {}
        for point in found:
            if self.fulfills(point):
                distinct.setdefault(named(point), point)
            if len(distinct) == _DRAWN:
                break
        return [*distinct.values()]

    def _drawn(self) -> Iterator[Constants]:
        if self.domain is not None:
            source = random.Random(self.seed)
            yield from ({name: _small(source) for name in self.names} for _ in range(_MOST_DRAWS))
            return
        rng = np.random.default_rng(self.seed)
        draw = draw_constants if self.method or self.bound.worst_case is None else draw_worst_case
        try:
            yield from (draw(self.bound, rng) for _ in range(_DRAWN))
        except ValueError:  # a constant without a law
            return

    def fulfills(self, constants: Constants) -> bool:
        """Whether constants lie in the domain and fulfill all hypotheses about numbers."""
        if self.domain is not None and not all(self.domain(*(constants[name] for name in self.names))):
            return False
        try:
            return not self.bound(**constants, strict=False)[1]
        except (ValueError, ZeroDivisionError):
            return False

    @cached_property
    def domain_texts(self) -> tuple[str, ...]:
        """The inequalities of the domain."""
        from sympy import Symbol

        return tuple(map(str, self.domain(*map(Symbol, self.names)))) if self.domain else ()

    def allowed(self, *constants: Any) -> list[Any]:
        """Return the inequalities of the domain and of the hypotheses between symbols that vary."""
        from sympy import Rel, sympify

        known = {**self.fixed, **dict(zip(self.names, constants, strict=True))}
        assumed = (one for one in self.bound.hypotheses if isinstance(one, Hypothesis) and one.sides)
        sides = (one.sides(*(known[name] for name in one.reads)) for one in assumed if one.sides)
        relations = [Rel(sympify(left), sympify(right), relation) for left, relation, right in sides]
        return [*(self.domain(*constants) if self.domain else ()), *(one for one in relations if one.free_symbols)]

    def compared(self, constants: Constants) -> Comparison:
        """Return the bound's value and the exact worst case; each is solved once."""
        key = named(constants)
        if key not in self._known:
            self._known[key] = compared(self.bound, constants, self.problem)
        return self._known[key]


def _checked(name: str, wanted: str, work: Callable[[], Any]) -> Any:
    """Call a function of the user, which may raise anything."""
    try:
        return work()
    except Exception as error:
        text = " ".join(f"{type(error).__name__}: {error}".split())
        message = f"{name} must return {wanted}, got {text}"
        raise ValueError(message) from error


def _small(source: random.Random) -> Fraction:
    """Draw a positive fraction with a small denominator."""
    b = source.randint(1, 12)
    return Fraction(source.randint(1, 2 * b), b * source.choice(_SCALES))


def complexity(constants: Constants) -> int:
    """Return the sum of all numerators and denominators."""
    flat = (one for c in constants.values() for one in (c if isinstance(c, list | tuple) else [c]))
    return sum(abs(one.numerator) + one.denominator for one in map(Fraction, flat))


def subject_of_file(path: Path, theorem: str | None, seed: int) -> Subject:
    """Run a file and return the theorem in it, the one of the given name if there are several."""
    values = catalogue.run_file(path)
    bounds = {one.__name__: one for one in values.values() if is_bound(one) and not _is_of_library(one)}
    if theorem is not None and theorem not in bounds:
        message = f"the theorem must be one of {', '.join(bounds) or 'none'}, got {theorem}{suggest(theorem, bounds)}"
        raise ValueError(message)
    if not bounds:
        message = f"a file must define a bound with @states, got none in {path}"
        raise ValueError(message)
    if theorem is None and len(bounds) > 1:
        message = f"a theorem must be chosen with --theorem, got {', '.join(bounds)} in {path}"
        raise ValueError(message)
    bound = bounds[theorem or next(iter(bounds))]
    claims = claims_about(bound, catalogue.own_claims(values.values(), path).values())
    functions = {name: values[name] for name in ("method", "domain", "state") if callable(values.get(name))}
    return Subject(bound, claims, **functions, file=str(path), seed=seed)


def _is_of_library(bound: Bound) -> bool:
    return bound.__module__.startswith("fedtheory.")


def claims_about(bound: Bound, claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """Return the claims about a bound, without those that section 2 checks itself: its worst cases."""
    return tuple(one for one in claims if one.bound is bound and not one.key.endswith("-worst-case"))
