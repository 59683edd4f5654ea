"""Citations attached to functions: a bound stays a plain function and carries the statement it evaluates.

A bound is written as a function of scalars that returns its named summands; ``states`` turns it into a function that
checks its arguments and the theorem's hypotheses and returns their sum.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import textwrap
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal, Protocol, cast, final, overload

import numpy.typing as npt

from fedtheory._support.validate import Array, boolean, choice, count
from fedtheory.theorem._docstring import completed, explained
from fedtheory.theorem._formula import Formula
from fedtheory.theorem._letters import formula
from fedtheory.theorem.assumptions import Assumption, Hypothesis
from fedtheory.theorem.domains import Domain
from fedtheory.theorem.scheme import ANY_SCHEME, Scheme
from fedtheory.theorem.symbols import SYMBOLS, Symbol

__all__ = ["Bound", "Paper", "Statement", "states"]

Summands = dict[str, Any]
UNSEEN = "as published, to our knowledge"


@dataclass(frozen=True)
class Paper:
    """A publication.

    ``compared`` says whether the forms that are called printed were compared with its formulas as they stand in print.
    ``symbols`` are rows of the glossary that it has for itself, or writes with other letters.
    """

    key: str
    title: str
    authors: str
    year: int
    url: str = ""
    compared: bool = True
    symbols: tuple[Symbol, ...] = field(default=(), compare=False, repr=False)

    @functools.cached_property
    def glossary(self) -> Mapping[str, Symbol]:
        """The symbols of its theorems, those that theorems share included, by name."""
        return {**SYMBOLS, **{row.name: row for row in self.symbols}}

    def __post_init__(self) -> None:
        count("year", self.year)
        boolean("compared", self.compared)


@dataclass(frozen=True)
class Statement:
    """A numbered statement of a paper, in the form that a function evaluates or a claim checks.

    ``side`` says which side of the truth the stated number is on: ``upper`` (or equal to it) or ``lower``. ``options``
    names options of ``fedavg`` that it speaks about beside those that its hypotheses and its arguments name.
    """

    paper: Paper
    number: str
    equation: str = ""
    form: str = "printed"
    schemes: tuple[Scheme, ...] = field(default=(ANY_SCHEME,))
    side: str = "upper"
    options: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = f"{self.number}, {self.equation}" if self.equation else self.number
        return f"{self.paper.authors} ({self.paper.year}), {where} [{self.label}]"

    @property
    def label(self) -> str:
        """The form in words: nothing is called printed that was not compared with the print."""
        return UNSEEN if self.form == "printed" and not self.paper.compared else self.form

    def accepts(self, scheme: Scheme) -> bool:
        """Whether the statement speaks about this pair of selection law and aggregation weights.

        Selection with a memory is covered where that is said.
        """
        return any(
            mine.selection in ("any", scheme.selection)
            and mine.aggregation in ("any", scheme.aggregation)
            and mine.memoryless <= scheme.memoryless
            for mine in self.schemes
        )


Value = float | Fraction | Array
Rational = int | Fraction | Sequence[int | Fraction]
Number = float | Fraction | Sequence[float | Fraction]
Entry = Number | npt.NDArray[Any]


class Bound(Protocol):
    """What ``states`` returns: a function of scalars with its source attached.

    Called, it returns the value: a rational if some arguments are rationals and the others whole numbers, an array if
    some are arrays (but a sum over one of them is a float), a float otherwise. With ``strict=False`` it returns the
    pair (value, unmet hypotheses).
    """

    __name__: str
    statement: Statement
    hypotheses: tuple[Assumption, ...]
    consequences: tuple[Hypothesis, ...]
    domains: Mapping[str, Domain]
    symbols: Mapping[str, Symbol]
    printed: Bound
    step_sizes: Callable[..., Array] | None

    # The first signature that fits is the one that holds: whole numbers alone are floats.
    @overload
    def __call__(self, *args: Entry, strict: Literal[False], **kwargs: Entry) -> tuple[Value, list[str]]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, *args: float, **kwargs: float) -> float: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, *args: Rational, **kwargs: Rational) -> Fraction: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, *args: Number, **kwargs: Number) -> float: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, *args: Entry, **kwargs: Entry) -> Array: ...

    def terms(self, *args: Any, **kwargs: Any) -> Summands:
        """Return the named summands, which add up to the value; with ``strict=False`` whatever the hypotheses say."""

    def symbolic(self) -> Any:
        """Return the SymPy expression of the value."""

    def _repr_latex_(self) -> str:
        """Return the formula for a notebook, in the letters of the paper."""

    def for_run(self, fed: Any, strategy: Any = None, **run: Any) -> dict[str, Any]:
        """Return the arguments for a run of ``fedavg``, as ``fedtheory.exact.for_run`` does."""


def is_bound(value: Any) -> bool:
    """Whether ``states`` made this function.

    >>> from fedtheory.bounds.power_of_choice import gradient_norm
    >>> is_bound(gradient_norm), is_bound(len)
    (True, False)
    """
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
    side: str = "upper",
    step_sizes: Callable[..., Array] | None = None,
    options: tuple[str, ...] = (),
) -> Callable[[Callable[..., Summands]], Bound]:
    """Attach a statement to a function that returns the named summands of its right-hand side.

    Parameters
    ----------
    paper, number, equation
        The source.
    form
        ``printed`` as in the paper, to our knowledge if that was not compared; ``corrected`` where it is false or
        unproved; ``derived`` or ``refined``.
    assumes
        Hypotheses; what can be read off the numbers is checked at every call, and what they imply together, too.
    schemes
        Pairs (selection law, aggregation weights) that the statement covers.
    domains
        What the arguments may be, where the paper's glossary does not say it. The section Parameters of the docstring
        explains what the glossary does not have, or what means more here; it is completed from the glossary.
    printed
        The printed form, where it differs; by default the function itself.
    side
        ``upper``, or ``lower`` for a lower bound: where the value goes when digits are lost, or all is.
    step_sizes
        The step sizes that the statement prescribes, if any: a function of ``num_steps`` and of arguments by name.
    options
        Options of ``fedavg`` that it speaks about beside those that its arguments and hypotheses name, ``strategy`` if
        it holds for any: ``("any",)`` for what holds whatever has led to a model. ``for_run`` refuses all others.

    Returns
    -------
    Callable[[Callable[..., Summands]], Bound]
        A decorator; what it returns is called like the function and has the attributes of ``Bound``.

    Raises
    ------
    ValueError
        If ``side`` is neither ``upper`` nor ``lower``.
    TypeError
        When it decorates a function without an argument that a hypothesis is made of.

    Examples
    --------
    >>> from fedtheory.theorem.assumptions import Smooth
    >>> @states(Paper("toy", "A toy", "Nobody", 2000), "Lemma 1", assumes=(Smooth(of="F"),))
    ... def gap(distance2, *, L):
    ...     return {"quadratic": L / 2 * distance2}
    >>> gap(3.0, L=2.0), str(gap.statement)
    (3.0, 'Nobody (2000), Lemma 1 [printed]')
    """
    side = choice("side", side, ("upper", "lower"))

    def attach(summands: Callable[..., Summands]) -> Bound:
        names = inspect.signature(summands).parameters
        for assumed in assumes:
            for name in assumed.reads if isinstance(assumed, Hypothesis) else ():
                if name not in names:
                    message = f"{summands.__name__} must take {name}, which its hypothesis {assumed.text!r} reads"
                    message += f", got {', '.join(names)}"
                    raise TypeError(message)
        rows = {name: paper.glossary.get(name, Symbol(name)) for name in names}
        rows |= {name: replace(rows[name], domain=domain) for name, domain in (domains or {}).items() if name in rows}
        symbols = explained(rows, summands)
        formula = Formula(
            number, summands, {name: row.domain for name, row in rows.items() if row.domain}, assumes, side
        )
        bound: Any = _Stated(formula)
        vars(bound).update(
            statement=Statement(paper, number, equation, form, schemes, side, options),
            hypotheses=assumes,
            consequences=formula.consequences,
            terms=formula.terms,
            symbolic=formula.symbolic,
            domains=formula.domains,
            symbols=symbols,
            printed=printed or bound,
            step_sizes=step_sizes,
            __signature__=formula.public_signature(),
        )
        bound.__doc__ = completed(summands, symbols.values(), (*assumes, *formula.consequences), side)
        return cast("Bound", bound)

    return attach


@final
class _Stated:
    """A bound: called and found like a function, and shown as what it states."""

    __name__: str
    statement: Statement
    hypotheses: tuple[Assumption, ...]
    symbolic: Callable[[], Any]

    def __init__(self, formula: Formula) -> None:
        functools.update_wrapper(self, formula.summands)
        self._formula = formula

    def __call__(self, *args: Any, strict: bool = True, **kwargs: Any) -> Any:
        return _answer(self, self._formula.value(args, kwargs, strict=strict), args, kwargs, strict=strict)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        # What has this is a routine for inspect: doctest and Sphinx look at it, and at nothing else that is called.
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        is_at_home = getattr(sys.modules.get(self.__module__), self.__name__, None) is self
        return self.__name__ if is_at_home else super().__reduce_ex__(protocol)

    def __repr__(self) -> str:
        return f"<bound {self.__name__}: {self.statement}>"

    def __str__(self) -> str:
        rows = [("source", str(self.statement)), ("bound", str(self.symbolic()))]
        rows += [("assumes" if k == 0 else "", assumed.text) for k, assumed in enumerate(self.hypotheses)]
        return "\n".join([self.__name__, *(line for name, text in rows for line in _folded(name, text))])

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {formula(cast('Bound', self))}$"

    def for_run(self, fed: Any, strategy: Any = None, **run: Any) -> dict[str, Any]:
        """Return the arguments for a run, as ``fedtheory.exact.for_run`` does."""
        # Loaded when somebody asks: most bounds are evaluated without a federation.
        from fedtheory.exact.runs import for_run

        return for_run(cast("Bound", self), fed, strategy, **run)


_STAND_INS: ContextVar[Mapping[Any, Callable[..., Any]]] = ContextVar("stand-ins", default=types.MappingProxyType({}))


@contextlib.contextmanager
def standing_in(bound: Bound, function: Callable[..., Any]) -> Iterator[None]:
    """Let a function answer in place of a bound, in this context only: checks of claims then check the function.

    The bound still checks arguments and hypotheses. Its summands, its symbols and its printed form stay its own.

    >>> from fedtheory.bounds.power_of_choice import gradient_norm
    >>> with standing_in(gradient_norm, lambda excess, L: 3 * L * excess):
    ...     gradient_norm(2.0, L=5.0)
    30.0
    >>> gradient_norm(2.0, L=5.0)
    20.0
    """
    token = _STAND_INS.set({**_STAND_INS.get(), bound: function})
    try:
        yield
    finally:
        _STAND_INS.reset(token)


@contextlib.contextmanager
def overheard(bound: Bound) -> Iterator[dict[str, Any]]:
    """Record the arguments, by name, of the last call of a bound in this context.

    >>> from fedtheory.bounds.power_of_choice import gradient_norm
    >>> with overheard(gradient_norm) as heard:
    ...     gradient_norm(2.0, L=5.0)
    20.0
    >>> heard
    {'argument 0': 2.0, 'L': 5.0}
    """
    heard: dict[str, Any] = {}
    answering = _STAND_INS.get().get(bound, bound)

    def listening(*args: Any, **kwargs: Any) -> Any:
        heard.clear()
        heard.update({f"argument {place}": value for place, value in enumerate(args)} | kwargs)
        return answering(*args, **kwargs)

    with standing_in(bound, listening):
        yield heard


def _answer(bound: Any, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *, strict: bool) -> Any:
    known = _STAND_INS.get()
    if bound not in known:
        return value
    # The function may ask the bound itself.
    token = _STAND_INS.set({other: function for other, function in known.items() if other is not bound})
    try:
        answer = known[bound](*args, **kwargs)
    finally:
        _STAND_INS.reset(token)
    return answer if strict else (answer, value[1])


def _folded(name: str, text: str) -> list[str]:
    """Fold a text beside its name; the name of what goes on is empty."""
    return textwrap.wrap(text, 100, initial_indent=f"  {name:<7}  ", subsequent_indent=" " * 13, break_on_hyphens=False)
