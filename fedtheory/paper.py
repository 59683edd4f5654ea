"""Citations attached to functions: a bound stays a plain function and carries the statement it evaluates.

A bound is written as a function of scalars that returns its named summands; ``states`` turns it into a function that
checks its arguments and the theorem's hypotheses and returns their sum.
"""

import functools
import inspect
import operator
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from fedtheory._validate import DOMAINS, Domain
from fedtheory.assumptions import Assumption, Hypothesis
from fedtheory.consequences import consequences
from fedtheory.errors import AssumptionViolated

__all__ = [
    "ANY_SCHEME",
    "Bound",
    "Hypothesis",
    "Paper",
    "Scheme",
    "Statement",
    "is_bound",
    "maximum",
    "square_root",
    "states",
]

Summands = dict[str, Any]


@dataclass(frozen=True)
class Paper:
    """A publication."""

    key: str
    title: str
    authors: str
    year: int
    url: str = ""


class Scheme(NamedTuple):
    """The pair (selection law, aggregation weights) that a theorem assumes or a strategy has."""

    selection: str
    aggregation: str


ANY_SCHEME = Scheme("any", "any")


@dataclass(frozen=True)
class Statement:
    """A numbered statement of a paper, in the form that a function evaluates or a claim checks."""

    paper: Paper
    number: str
    equation: str = ""
    form: str = "printed"
    schemes: tuple[Scheme, ...] = field(default=(ANY_SCHEME,))

    def __str__(self) -> str:
        where = f"{self.number}, {self.equation}" if self.equation else self.number
        return f"{self.paper.authors} ({self.paper.year}), {where} [{self.form}]"

    def accepts(self, scheme: Scheme) -> bool:
        """Whether the statement speaks about this pair of selection law and aggregation weights."""
        return any(
            mine.selection in ("any", scheme.selection) and mine.aggregation in ("any", scheme.aggregation)
            for mine in self.schemes
        )


class Bound(Protocol):
    """What ``states`` returns: a function of scalars with its source attached."""

    __name__: str
    statement: Statement
    hypotheses: tuple[Assumption, ...]
    consequences: tuple[Hypothesis, ...]
    printed: "Bound"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the value; with ``strict=False`` the pair (value, unmet hypotheses)."""

    def terms(self, *args: Any, **kwargs: Any) -> Summands:
        """Return the named summands, which add up to the value."""

    def symbolic(self) -> Any:
        """Return the SymPy expression of the value."""


def is_bound(value: Any) -> bool:
    """Whether ``states`` made this function."""
    return isinstance(getattr(value, "statement", None), Statement) and callable(value)


def states(
    paper: Paper,
    number: str,
    *,
    equation: str = "",
    form: str = "printed",
    assumes: tuple[Assumption, ...] = (),
    schemes: tuple[Scheme, ...] = (ANY_SCHEME,),
    domains: Mapping[str, Domain] | None = None,
    printed: Bound | None = None,
) -> Callable[[Callable[..., Summands]], Bound]:
    """Attach a statement to a function that returns the named summands of its right-hand side.

    Parameters
    ----------
    paper, number, equation
        The source.
    form
        ``printed`` as in the paper; ``corrected`` where that is false or unproved; ``derived`` or ``refined``.
    assumes
        Hypotheses; what can be read off the numbers is checked at every call, and what they imply together, too.
    schemes
        Pairs (selection law, aggregation weights) that the statement covers.
    domains
        What the arguments may be, for names that are not among the common ones.
    printed
        The printed form, where it differs; by default the function itself.
    """

    def attach(summands: Callable[..., Summands]) -> Bound:
        formula = _Formula(number, summands, {**DOMAINS, **(domains or {})}, assumes)

        def evaluate(*args: Any, strict: bool = True, **kwargs: Any) -> Any:
            return formula.value(args, kwargs, strict=strict)

        bound = functools.update_wrapper(_at_home(evaluate, summands), summands)
        vars(bound).update(
            statement=Statement(paper, number, equation, form, schemes),
            hypotheses=assumes,
            consequences=formula.consequences,
            terms=formula.terms,
            symbolic=formula.symbolic,
            printed=printed or bound,
            __signature__=formula.public_signature(),
        )
        return bound  # type: ignore[return-value]

    return attach


def _at_home(function: Any, home: Any) -> types.FunctionType:
    # Doctest collects a function only from the module whose globals it has, so the bound gets its author's globals.
    moved = types.FunctionType(function.__code__, home.__globals__, home.__name__, None, function.__closure__)
    moved.__kwdefaults__ = function.__kwdefaults__
    return moved


@dataclass(frozen=True)
class _Formula:
    """The author's function together with what its arguments and the theorem demand."""

    number: str
    summands: Callable[..., Summands]
    domains: Mapping[str, Domain]
    assumes: tuple[Assumption, ...]

    def __post_init__(self) -> None:
        unknown = [name for name in self.signature.parameters if name not in self.domains]
        if unknown:
            message = f"{self.number}: a domain is needed for the arguments {unknown}"
            raise TypeError(message)

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.summands)

    @functools.cached_property
    def consequences(self) -> tuple[Hypothesis, ...]:
        return consequences(self.assumes, tuple(self.signature.parameters))

    def public_signature(self) -> inspect.Signature:
        strict = inspect.Parameter("strict", inspect.Parameter.KEYWORD_ONLY, default=True, annotation=bool)
        parameters = [*self.signature.parameters.values(), strict]
        return self.signature.replace(parameters=parameters, return_annotation=float)

    def value(self, args: tuple[Any, ...], kwargs: dict[str, Any], *, strict: bool) -> Any:
        arguments = self.clean(args, kwargs)
        unmet = self.unmet(arguments)
        if unmet and strict:
            message = f"{self.number} needs {unmet[0]}"
            raise AssumptionViolated(message)
        value = _never_nan(lambda: _total(self.call(arguments)))
        return value if strict else (value, unmet)

    def terms(self, *args: Any, **kwargs: Any) -> Summands:
        arguments = self.clean(args, kwargs)
        unmet = self.unmet(arguments)
        if unmet:
            message = f"{self.number} needs {unmet[0]}"
            raise AssumptionViolated(message)
        return self.call(arguments)

    def symbolic(self) -> Any:
        from sympy import Symbol

        return _total(
            self.call({name: Symbol(name, **self.domains[name].assumptions) for name in self.signature.parameters})
        )

    def clean(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        given = self.signature.bind(*args, **kwargs)
        given.apply_defaults()
        return _consistent({name: self.domains[name].check(name, value) for name, value in given.arguments.items()})

    def unmet(self, arguments: Mapping[str, Any]) -> list[str]:
        violations = (assumption.violation(arguments) for assumption in (*self.assumes, *self.consequences))
        return [violation for violation in violations if violation is not None]

    def call(self, arguments: Mapping[str, Any]) -> Summands:
        parameters = self.signature.parameters.items()
        positional = [arguments[name] for name, parameter in parameters if parameter.kind is not parameter.KEYWORD_ONLY]
        named = {name: arguments[name] for name, parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY}
        return self.summands(*positional, **named)


def _total(summands: Summands) -> Any:
    return functools.reduce(operator.add, summands.values())


def _never_nan(evaluate: Callable[[], Any]) -> Any:
    # A formula outside its hypotheses may divide by zero: it then says nothing, which is the bound infinity.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        try:
            value = evaluate()
        except (ZeroDivisionError, OverflowError):
            return float("inf")
    if np.asarray(value).dtype.kind == "f" and np.any(np.isnan(value)):
        return np.where(np.isnan(value), np.inf, value)[()]
    return value


def _consistent(arguments: dict[str, Any]) -> dict[str, Any]:
    for low, high in (("mu", "L"), ("num_selected", "num_clients"), ("num_candidates", "num_clients")):
        if low in arguments and high in arguments and np.any(np.greater(arguments[low], arguments[high])):
            message = f"{high} must be at least {low}, got {high}={arguments[high]} and {low}={arguments[low]}"
            raise ValueError(message)
    return arguments


def maximum(left: Any, right: Any) -> Any:
    """Larger of two numbers, arrays, exact rationals or SymPy expressions."""
    if hasattr(left, "free_symbols") or hasattr(right, "free_symbols"):
        from sympy import Max

        return Max(left, right)
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return np.maximum(left, right)
    return max(left, right)


def square_root(value: Any) -> Any:
    """Square root of a number, an array or a SymPy expression."""
    if hasattr(value, "free_symbols"):
        from sympy import sqrt

        return sqrt(value)
    return np.sqrt(value)
