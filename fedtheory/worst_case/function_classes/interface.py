"""What a class of functions or operators of the problem language consists of.

The conditions of an exact class are necessary and sufficient. The conditions of other classes are only necessary, so
they prove upper bounds only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, NamedTuple, final

from fedtheory._support.validate import Array
from fedtheory.worst_case._vectors import Form, Value, Vector

__all__: list[str] = []

Number = Callable[[Any], str]
"""Function that writes a constant."""


class Call(NamedTuple):
    """A point at which a function is called, with the gradient and the value at this point."""

    at: Vector
    gradient: Vector
    value: Value


class Noise(int):
    """The block of a noise; ``crossed`` are the blocks of its effect on the differences between clients."""

    crossed: tuple[int, ...] = ()


class Called(NamedTuple):
    """All calls of a function, and the number of the call at the minimizer, if there is one.

    ``own`` are the blocks of the function's own points, and ``noises`` the blocks of all noises.
    """

    calls: Sequence[Call]
    minimum: int | None = None
    own: Sequence[int] = (0,)
    noises: Sequence[Noise] = ()


class Condition(NamedTuple):
    """A form that is at most, or equal to, a bound, and the numbers of the calls that it compares."""

    calls: tuple[int, ...]
    form: Form
    bound: Fraction = Fraction(0)
    name: str = ""
    is_equality: bool = False


class Semidefinite(NamedTuple):
    """The upper triangle of a matrix of forms that must be positive semidefinite."""

    entries: Mapping[tuple[int, int], Form]


@final
@dataclass(frozen=True)
class FunctionClass:
    """A class of functions, or of operators.

    Attributes
    ----------
    parameters
        Constants and flags by name, as in certificates; None if there is no such hypothesis. Functions have a ``mu``.
    conditions
        Function that yields the conditions on the calls of a member; ``exact`` if they are also sufficient.
    text
        Description of a member, given a function that writes constants.
    distinguishes_minimizer, needs_minimizer
        Whether the conditions distinguish the minimizer from other stationary points, and whether they refer to it even
        if the problem does not.
    compares_outcomes
        Whether conditions on the points of two outcomes of a noise are known, or none are needed.
    shifts
        Shifts of the gradients that change no condition: none, one shift of all gradients, or a shift of each.
    member
        Function that returns a member with given points, gradients and values, shapes (n, v), (n, v) and (n,), and
        the number of the minimizer; without it, instances are ``Samples``.
    coq, without_coq
        Names in Coq of the hypotheses on a member, given a function that writes constants, or why there are none.
    """

    parameters: Mapping[str, Any]
    conditions: Callable[[Called], Iterator[Condition | Semidefinite]]
    text: Callable[[Number], str]
    exact: bool
    kind: Literal["function", "operator"] = "function"
    distinguishes_minimizer: bool = False
    needs_minimizer: bool = False
    compares_outcomes: bool = False
    shifts: Literal["none", "one", "each"] = "none"
    member: Callable[[Array, Array, Array, int | None], Any] | None = None
    coq: Callable[[Number], Sequence[str]] | None = None
    without_coq: str = "functions of its class have no formal statement yet"

    @property
    def mu(self) -> Fraction:
        """The least curvature, which is negative for functions that need not be convex."""
        least: Fraction = self.parameters["mu"]
        return least

    @property
    def is_smooth(self) -> bool:
        """Whether the members have one gradient at each point."""
        return self.parameters.get("L") is not None

    @property
    def indicator(self) -> bool:
        """Whether the members are 0 on a set and infinite outside."""
        return bool(self.parameters.get("indicator"))

    @property
    def quadratic(self) -> bool:
        """Whether the members are quadratic, so that the gradients at all points have one matrix."""
        return bool(self.parameters.get("quadratic"))

    @property
    def has_minimizer(self) -> bool:
        """Whether a minimizer can be stated: each stationary point is one, or the conditions distinguish it."""
        return self.mu >= 0 or self.distinguishes_minimizer


@final
@dataclass(frozen=True)
class Samples:
    """Function or operator with given values at finitely many points; elsewhere the value of the nearest point.

    Points, gradients and values have the shapes (n, v), (n, v) and (n,).
    """

    points: Array
    gradients: Array
    values: Array

    has_gradient: ClassVar[bool] = False

    @property
    def minimum(self) -> float:
        return float(self.values.min())

    def loss(self, w: Array) -> float:
        return float(self.values[self._nearest(w)])

    def gradient(self, w: Array) -> Array:
        found: Array = self.gradients[self._nearest(w)]
        return found

    def _nearest(self, w: Array) -> int:
        return int(((self.points - w) ** 2).sum(axis=1).argmin())
