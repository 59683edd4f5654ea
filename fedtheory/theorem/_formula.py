"""Evaluation of bounds: validated arguments, checked hypotheses, and values with bounded rounding errors.

Rationals are evaluated exactly. Other numbers are evaluated in doubles with a bound on the rounding error. A result
with a relative error of at most 2^-40 is returned unchanged, and may therefore be on the wrong side of the exact value
by that much. A less accurate result is rounded to the safe side: up for an upper bound, down for a lower bound.
"""

import contextlib
import functools
import inspect
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from fedtheory._support import validate
from fedtheory._support.wording import format_number, suggest, truncate
from fedtheory.arithmetic.rounding import Rounded
from fedtheory.errors import AssumptionViolated
from fedtheory.theorem.assumptions import Assumption, Hypothesis
from fedtheory.theorem.domains import Domain
from fedtheory.theorem.implications import consequences

Numbers = dict[str, Any]
_EXACT_COUNTS = 2**53
_SHORT = 1000  # powers of doubles with larger exponents would have more than some thousand digits


@dataclass(frozen=True)
class Formula:
    """The user's function together with the domains of its arguments and the hypotheses of the theorem."""

    number: str
    summands: Callable[..., Numbers]
    domains: Mapping[str, Domain]
    assumes: tuple[Assumption, ...]
    side: str

    def __post_init__(self) -> None:
        unknown = [name for name in self.signature.parameters if name not in self.domains]
        if unknown:
            message = (
                f"{self.number}: a domain is needed for the arguments {unknown}, as in "
                f"states(..., domains={{{unknown[0]!r}: POSITIVE}}) with fedtheory.theorem.domains"
            )
            raise TypeError(message)

    @cached_property
    def signature(self) -> inspect.Signature:
        """Signature of the user's function."""
        return inspect.signature(self.summands)

    @cached_property
    def consequences(self) -> tuple[Hypothesis, ...]:
        """Relations between the numbers that follow from several assumptions together."""
        return consequences(self.assumes, tuple(self.signature.parameters))

    def public_signature(self) -> inspect.Signature:
        """Return the signature with ``strict``."""
        strict = inspect.Parameter("strict", inspect.Parameter.KEYWORD_ONLY, default=True, annotation=bool)
        parameters = [*self.signature.parameters.values(), strict]
        return self.signature.replace(parameters=parameters, return_annotation=float)

    def value(self, args: tuple[Any, ...], kwargs: Numbers, *, strict: bool) -> Any:
        """Return the value, or the pair (value, unmet hypotheses)."""
        arguments = self.clean(args, kwargs)
        unmet = self.unmet(arguments)
        if validate.boolean("strict", strict):
            self.refuse(unmet)
        with np.errstate(all="ignore"):
            value = self.honest(_total(self.evaluate(arguments)))
            if np.ndim(value) == 0 and not isinstance(value, Fraction) and np.isinf(value):
                value = self.beyond(arguments, value)
        return value if strict else (value, unmet)

    def beyond(self, arguments: Numbers, infinity: float) -> float:
        """Return the exact value as a double if doubles overflow during the evaluation and all powers are short."""
        counts = [value for name, value in arguments.items() if self.is_count(name)]
        if any(isinstance(value, np.ndarray) for value in arguments.values()) or max(counts, default=0) > _SHORT:
            return infinity
        with contextlib.suppress(ZeroDivisionError, OverflowError):
            value = _total(self.call(self.rationals(arguments)))
            return self.honest(Rounded.of(value)) if isinstance(value, Fraction | float) else infinity
        return infinity

    def terms(self, *args: Any, strict: bool = True, **kwargs: Any) -> Numbers:
        """Return the named summands, whose sum is the value; hypotheses are only checked if ``strict``."""
        arguments = self.clean(args, kwargs)
        if validate.boolean("strict", strict):
            self.refuse(self.unmet(arguments))
        with np.errstate(all="ignore"):
            return {name: self.honest(summand) for name, summand in self.evaluate(arguments).items()}

    def symbolic(self) -> Any:
        """Return the SymPy expression of the value."""
        return _total(self.symbolic_terms())

    def symbolic_terms(self) -> Numbers:
        """Return the SymPy expressions of the summands."""
        from sympy import Symbol

        return self.call({name: Symbol(name, **self.domains[name].assumptions) for name in self.signature.parameters})

    def clean(self, args: tuple[Any, ...], kwargs: Numbers) -> Numbers:
        """Return the arguments as validated by their domains."""
        given = self.given(args, kwargs)
        given.apply_defaults()
        arguments = {name: self.domains[name].check(name, value) for name, value in given.arguments.items()}
        self.refuse_shapes(arguments)
        if not _is_exact(arguments):
            _fit_into_doubles(arguments)
        return _consistent(arguments)

    def given(self, args: tuple[Any, ...], kwargs: Numbers) -> inspect.BoundArguments:
        """Return the arguments by name; raise if a name is misspelled or missing."""
        parameters = self.signature.parameters
        for name in kwargs:
            if name not in parameters:
                message = f"{self.number} takes no {name}{suggest(name, parameters)}, it takes {', '.join(parameters)}"
                raise TypeError(message)
        try:
            return self.signature.bind(*args, **kwargs)
        except TypeError as error:
            first = list(parameters)[: len(args)]
            missing = [n for n, one in parameters.items() if one.default is one.empty and n not in (*first, *kwargs)]
            if not missing:
                raise
            message = f"{self.number} needs {', '.join(missing)}, got {', '.join([*first, *kwargs]) or 'nothing'}"
            raise TypeError(message) from error

    def refuse_shapes(self, arguments: Numbers) -> None:
        """Raise if the shapes of arrays cannot be broadcast, or if arrays are mixed with a sequence."""
        singles = {name: value for name, value in arguments.items() if not self.domains[name].is_sequence}
        arrays = {name: value.shape for name, value in singles.items() if isinstance(value, np.ndarray)}
        if arrays and len(singles) < len(arguments):
            name, shape = next(iter(arrays.items()))
            message = f"{name} must be a single number in a call with a sequence, got an array of shape {shape}"
            raise ValueError(message)
        if len(arrays) < 2:
            return
        try:
            np.broadcast_shapes(*arrays.values())
        except ValueError as error:
            message = f"{self.number} needs arrays that can be broadcast, got {_listed(arrays)}"
            raise ValueError(message) from error

    def unmet(self, arguments: Numbers) -> list[str]:
        """Return the violated hypotheses, one sentence each."""
        numbers = self.rationals(arguments) if _is_exact(arguments) else self.doubles(arguments)
        with np.errstate(all="ignore"):
            violations = [assumed.violation(numbers) for assumed in (*self.assumes, *self.consequences)]
        return [violation for violation in violations if violation is not None]

    def refuse(self, unmet: list[str]) -> None:
        """Raise if a hypothesis is violated."""
        if unmet:
            message = f"{self.number} needs {unmet[0]}"
            raise AssumptionViolated(message)

    def evaluate(self, arguments: Numbers) -> Numbers:
        """Return the summands, exactly for rational arguments, otherwise with bounds on their errors."""
        # A division by zero is repeated in doubles, where only one summand becomes infinite.
        with contextlib.suppress(ZeroDivisionError, OverflowError):
            if _is_exact(arguments):
                summands = self.call(self.rationals(arguments))
                # A root or a logarithm of a rational may be irrational; the error is then bounded from the start.
                if all(isinstance(summand, int | Fraction) for summand in summands.values()):
                    return summands
        rounded = self.rounded(arguments)
        with contextlib.suppress(ZeroDivisionError, OverflowError):
            return self.call(rounded)
        return self.call({name: Rounded.of(value) for name, value in rounded.items()})

    def honest(self, value: Any) -> Any:
        """Return a number on the safe side of the exact one, or within a relative distance of 2^-40."""
        return value if isinstance(value, int | Fraction) else Rounded.of(value).outward(self.side)

    def rationals(self, arguments: Numbers) -> Numbers:
        """Return integers, except counts, as rationals, so that quotients are exact."""
        return {
            name: value if isinstance(value, tuple | Fraction) or self.is_count(name) else Fraction(value)
            for name, value in arguments.items()
        }

    def rounded(self, arguments: Numbers) -> Numbers:
        """Return all arguments except counts in doubles, with the error of the conversion."""
        return {
            name: value if self.is_count(name) and isinstance(value, int) else Rounded.of(value)
            for name, value in arguments.items()
        }

    def doubles(self, arguments: Numbers) -> Numbers:
        """Return all arguments in doubles, except counts that would have to be rounded."""
        return {
            name: value if isinstance(value, int) and value <= _EXACT_COUNTS else Rounded.of(value).value
            for name, value in self.rounded(arguments).items()
        }

    def is_count(self, name: str) -> bool:
        """Whether the argument is an integer by definition."""
        return self.domains[name].assumptions.get("integer", False)

    def call(self, arguments: Mapping[str, Any]) -> Numbers:
        """Call the user's function."""
        parameters = self.signature.parameters.items()
        positional = [arguments[name] for name, parameter in parameters if parameter.kind is not parameter.KEYWORD_ONLY]
        named = {name: arguments[name] for name, parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY}
        found: Any = self.summands(*positional, **named)
        if not isinstance(found, Mapping):
            message = f"{self.number} must return its summands by name, as {{'all': value}}, got {truncate(found)}"
            raise TypeError(message)
        return dict(found)


def _total(summands: Numbers) -> Any:
    return functools.reduce(operator.add, summands.values())


def _is_exact(arguments: Numbers) -> bool:
    # Integers alone count as floats without a decimal point; one Fraction among them requests exact arithmetic.
    flat = [part for value in arguments.values() for part in (value if isinstance(value, tuple) else (value,))]
    return any(isinstance(part, Fraction) for part in flat) and all(isinstance(part, int | Fraction) for part in flat)


def _fit_into_doubles(arguments: Numbers) -> None:
    for name, value in arguments.items():
        if isinstance(value, int | Fraction) and not np.isfinite(Rounded.of(value).value):
            message = f"{name} must be at most 1.8e308 unless all numbers are rationals, got {format_number(value)}"
            raise ValueError(message)


def _listed(shapes: Mapping[str, tuple[int, ...]]) -> str:
    return ", ".join(f"{name} of shape {shape}" for name, shape in shapes.items())


def _consistent(arguments: Numbers) -> Numbers:
    for low, high in (("mu", "L"), ("num_selected", "num_clients"), ("num_candidates", "num_clients")):
        if low not in arguments or high not in arguments:
            continue
        wrong = arguments[low] > arguments[high]
        if np.any(wrong):
            sides = (np.asarray(arguments[name], dtype=object) for name in (low, high))
            smaller, larger = (format_number(np.broadcast_to(side, np.shape(wrong))[wrong].flat[0]) for side in sides)
            message = f"{high} must be at least {low}, got {high}={larger} and {low}={smaller}"
            raise ValueError(message)
    return arguments
