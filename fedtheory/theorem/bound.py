"""Bounds: functions with a cited statement and its hypotheses.

The author writes a function that returns named summands. ``states`` turns it into a ``Bound``, which checks its
arguments and the theorem's hypotheses and returns the sum of the summands.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import textwrap
import types
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, Literal, final, overload

from fedtheory import theorem
from fedtheory._support.validate import Array, choice
from fedtheory.theorem._docstring import parameters_of
from fedtheory.theorem._formula import Formula
from fedtheory.theorem.assumptions import Assumption, Hypothesis
from fedtheory.theorem.domains import Domain
from fedtheory.theorem.left_side import LeftSide
from fedtheory.theorem.paper import Paper, Statement
from fedtheory.theorem.scheme import ANY_SCHEME, Scheme
from fedtheory.theorem.symbols import Symbol
from fedtheory.theorem.worst_case_problem import WorstCaseProblem

Summands = dict[str, Any]

if TYPE_CHECKING:  # with a default, so that ``Bound`` alone stands for a bound with any arguments
    from typing_extensions import ParamSpec

    P = ParamSpec("P", default=...)
else:
    from typing import ParamSpec

    P = ParamSpec("P")


@final
class Bound(Generic[P]):
    """A bound: a function of scalars with its statement and hypotheses, created by ``states``.

    A call returns the value: a Fraction if some arguments are Fractions and the others ints, an array if some are
    arrays, a float otherwise. With ``strict=False`` it returns the pair (value, unmet hypotheses).

    Attributes
    ----------
    left
        What is bounded: the left-hand side, or None if it was not declared.
    hypotheses
        Assumptions of the theorem.
    domains
        Domains of the arguments by name.
    printed
        The printed form if it differs, otherwise the bound itself.
    step_sizes
        A function that returns the step sizes that the statement prescribes, or None.
    """

    __name__: str
    __doc__: str | None

    def __init__(
        self,
        summands: Callable[P, Summands],
        formula: Formula,
        statement: Statement,
        left: LeftSide | None,
        printed: Bound | None,
        step_sizes: Callable[..., Array] | None,
        worst_case: WorstCaseProblem | Callable[[], WorstCaseProblem] | None,
    ) -> None:
        functools.update_wrapper(self, summands)
        self._formula = formula
        self.statement = statement
        self.left = left
        self.hypotheses = formula.assumes
        self.domains: Mapping[str, Domain] = formula.domains
        self.printed: Bound = printed or self
        self.step_sizes = step_sizes
        self._worst_case = worst_case
        self.__signature__ = formula.public_signature()

    # A call with ``strict=False`` is checked at run time only: a ParamSpec cannot be extended by a keyword.
    @overload
    def __call__(self, *args: Any, strict: Literal[False], **kwargs: Any) -> tuple[Any, list[str]]: ...
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any: ...
    def __call__(self, *args: Any, strict: bool = True, **kwargs: Any) -> Any:  # type: ignore[misc] # it does
        """Return the value; with ``strict=False`` the pair (value, unmet hypotheses)."""
        return _answer(self, self._formula.value(args, kwargs, strict=strict), args, kwargs, strict=strict)

    @overload
    def terms(self, *args: Any, strict: Literal[False], **kwargs: Any) -> Summands: ...
    @overload
    def terms(self, *args: P.args, **kwargs: P.kwargs) -> Summands: ...
    def terms(self, *args: Any, strict: bool = True, **kwargs: Any) -> Summands:  # type: ignore[misc] # it does
        """Return the named summands, which add up to the value; with ``strict=False`` hypotheses are not checked."""
        return self._formula.terms(*args, strict=strict, **kwargs)

    def symbolic(self) -> Any:
        """Return the SymPy expression of the value."""
        return self._formula.symbolic()

    def symbolic_terms(self) -> Summands:
        """Return the SymPy expressions of the named summands."""
        return self._formula.symbolic_terms()

    @property
    def consequences(self) -> tuple[Hypothesis, ...]:
        """Relations between the numbers that the hypotheses jointly imply."""
        return self._formula.consequences

    @functools.cached_property
    def symbols(self) -> Mapping[str, Symbol]:
        """Meaning, domain, unit and letter of the arguments, from the docstring or the glossary of the paper."""
        glossary, own = self.statement.topic.glossary, parameters_of(self.__doc__ or "")
        rows = {name: replace(glossary.get(name, Symbol(name)), domain=domain) for name, domain in self.domains.items()}
        return {name: replace(row, meaning=own.get(name, row.text)) for name, row in rows.items()}

    @property
    def worst_case(self) -> WorstCaseProblem | None:
        """The worst-case problem of the bound, or None."""
        return self._worst_case() if callable(self._worst_case) else self._worst_case

    @property
    def short_name(self) -> str:
        """The number of the statement in its paper, or the name of the bound if no paper states it."""
        return self.__name__ if self.statement.related else self.statement.number

    @property
    def relation(self) -> str:
        """``<=``, ``>=`` for a lower bound, or ``=`` if the value is exact."""
        if self.left is not None and self.left.is_equal:
            return "="
        return ">=" if self.statement.side == "lower" else "<="

    @property
    def inequality(self) -> str:
        """The left-hand side, the relation and the symbolic right-hand side as text."""
        left = "left-hand side (not declared)" if self.left is None else self.left.text
        return f"{left} {self.relation} {self.symbolic()}"

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        # With this method inspect treats the object as a routine, which doctest and Sphinx require.
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        is_at_home = getattr(sys.modules.get(self.__module__), self.__name__, None) is self
        return self.__name__ if is_at_home else super().__reduce_ex__(protocol)

    def __repr__(self) -> str:
        return f"<bound {self.__name__}: {self.statement}>"

    def __str__(self) -> str:
        rows = [("source", str(self.statement)), ("bounds", self.inequality)]
        rows += [("assumes" if k == 0 else "", assumed.text) for k, assumed in enumerate(self.hypotheses)]
        proof = self.statement.formal_proof
        rows += [("in Coq", f"assumes also: {proof.assumes}")] if proof and proof.assumes else []
        return "\n".join([self.__name__, *(line for name, text in rows for line in _folded(name, text))])

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {theorem.letters.inequality(self)}$"


def is_bound(value: Any) -> bool:
    """Whether a function was made by ``states``."""
    return isinstance(value, Bound)


def states(
    paper: Paper,
    number: str,
    *,
    equation: str = "",
    form: str = "printed",
    basis: str = "",
    related: tuple[Paper, str] | None = None,
    left: LeftSide | None = None,
    assumes: tuple[Assumption, ...] = (),
    schemes: tuple[Scheme, ...] = (),
    domains: Mapping[str, Domain] | None = None,
    printed: Bound | None = None,
    side: Literal["upper", "lower"] = "upper",
    step_sizes: Callable[..., Array] | None = None,
    options: tuple[str, ...] = (),
    worst_case: WorstCaseProblem | Callable[[], WorstCaseProblem] | None = None,
) -> Callable[[Callable[P, Summands]], Bound[P]]:
    """Attach a statement to a function that returns the named summands of its right-hand side.

    Parameters
    ----------
    paper, number, equation
        The paper, the number of the statement and, if needed, the number of the equation.
    form
        ``printed``: as in the paper; ``corrected``: the printed form is false or unproved; ``derived`` or ``refined``:
        not in the paper.
    basis
        What the statement rests on, one of ``fedtheory.theorem.paper.BASES``; by default that of the paper.
    related
        For a result that no paper states: the related paper, whose glossary is used, and its statement.
    assumes
        Hypotheses. Those about numbers, and their joint implications, are checked at every call.
    schemes
        Pairs (selection law, aggregation weights) that the statement covers; by default any.
    printed
        The printed form if it differs, from which ``left``, ``schemes`` and ``step_sizes`` are taken if not given.
    domains
        Domains of arguments that are not in the paper's glossary; the docstring's Parameters describe them.
    side
        ``upper``, or ``lower`` for a lower bound; inexact values are rounded in this direction.
    step_sizes
        A function of ``num_steps`` and of named arguments that returns the prescribed step sizes, if any.
    options
        Options of ``fedavg`` that the statement allows in addition to those of its arguments and hypotheses;
        ``strategy`` if it holds for any strategy, and ``("any",)`` if it holds at every model, however obtained.
    worst_case
        The worst-case problem, or a function that returns it, whose module is then loaded when it is solved.

    Examples
    --------
    >>> from fedtheory.theorem.assumptions import Smooth
    >>> @states(Paper("toy", "A toy", "Doe", 2000), "Lemma 1", assumes=(Smooth(of="F"),))
    ... def gap(distance2, *, L):
    ...     return {"quadratic": L / 2 * distance2}
    >>> gap(3.0, L=2.0), str(gap.statement)
    (3.0, 'Doe (2000), Lemma 1 [printed]')
    """
    choice("side", side, ("upper", "lower"))
    if printed is not None:
        left, step_sizes = left or printed.left, step_sizes or printed.step_sizes
        schemes = schemes or printed.statement.schemes
    schemes = schemes or (ANY_SCHEME,)
    statement = Statement(paper, number, equation, form, schemes, side, options, basis=basis, related=related)

    def attach(summands: Callable[P, Summands]) -> Bound[P]:
        names = tuple(inspect.signature(summands).parameters)
        _refuse_unread(summands, assumes, names)
        glossary = statement.topic.glossary
        known = {name: row.domain for name, row in glossary.items() if row.domain} | dict(domains or {})
        allowed = {name: known[name] for name in names if name in known}
        formula = Formula(summands.__name__ if related else number, summands, allowed, assumes, side)
        own = replace(statement, function=_name_in_library(summands))
        return Bound(summands, formula, own, left, printed, step_sizes, worst_case)

    return attach  # type: ignore[return-value] # P has a default


def _name_in_library(summands: Callable[..., Any]) -> str:
    """Return ``paper.function`` for a function of this library, and nothing for another."""
    library, _, rest = summands.__module__.partition(".bounds.")
    return f"{rest.partition('.')[0]}.{summands.__name__}" if library == "fedtheory" else ""


def _refuse_unread(summands: Callable[..., Any], assumes: tuple[Assumption, ...], names: tuple[str, ...]) -> None:
    """Raise TypeError if a hypothesis depends on a constant that is not an argument of the function."""
    for assumed in assumes:
        for name in assumed.reads if isinstance(assumed, Hypothesis) else ():
            if name not in names:
                message = f"{summands.__name__} must take {name}, which its hypothesis {assumed.text!r} reads"
                message += f", got {', '.join(names)}"
                raise TypeError(message)


_STAND_INS: ContextVar[Mapping[Any, Callable[..., Any]]] = ContextVar("stand-ins", default=types.MappingProxyType({}))


@contextlib.contextmanager
def override(bound: Bound, function: Callable[..., Any]) -> Iterator[None]:
    """Evaluate a function in place of a bound within this context, so that checks of claims test the function.

    The bound still checks arguments and hypotheses. Its summands, symbols and printed form do not change.

    >>> from fedtheory.bounds.power_of_choice import gradient_norm
    >>> with override(gradient_norm, lambda excess, L: 3 * L * excess):
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


def _answer(bound: Any, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *, strict: bool) -> Any:
    known = _STAND_INS.get()
    if bound not in known:
        return value
    # The function may call the bound.
    token = _STAND_INS.set({other: function for other, function in known.items() if other is not bound})
    try:
        answer = known[bound](*args, **kwargs)
    finally:
        _STAND_INS.reset(token)
    return answer if strict else (answer, value[1])


def _folded(name: str, text: str) -> list[str]:
    """Wrap a text next to its name; continuation lines have no name."""
    return textwrap.wrap(text, 100, initial_indent=f"  {name:<7}  ", subsequent_indent=" " * 13, break_on_hyphens=False)
