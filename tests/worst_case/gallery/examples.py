"""The record of an example of the gallery, and common beginnings of examples."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction as Q
from math import sqrt
from typing import Any

from fedtheory.worst_case import Problem


@dataclass(frozen=True)
class Example:
    """A problem, and numbers that others have for its value."""

    folder: str
    problem: Callable[[], Problem]
    pepit: float
    theory: float | None
    bound: float | None
    pepit_is_off: bool = False
    """Whether PEPit's float is not within 1e-6 of the enclosure, as a comment explains."""

    @property
    def name(self) -> str:
        """Folder and name of the method."""
        return f"{self.folder}: {self.problem.__name__}"


def example(
    folder: str, *, pepit: float, theory: float | None = None, bound: float | None = None, pepit_is_off: bool = False
) -> Callable[[Callable[[], Problem]], Example]:
    """Make an example of a function that writes its problem."""
    return lambda problem: Example(folder, problem, pepit, theory, bound, pepit_is_off)


def near(number: float) -> Q:
    """Return a rational near an irrational number."""
    return Q(number).limit_denominator(10**6)


def begun(p: Problem, best: Any) -> Any:
    """Return a start at a distance of at most 1 from a point."""
    x = p.point("start")
    p.at_most((x - best).square, 1, name="distance2")
    return x


def fast_gradient_weights(n: int) -> list[Q]:
    """Return ``1, (1 + sqrt(4 t^2 + 1)) / 2, ...``, n + 1 of them."""
    found = [Q(1)]
    for _ in range(n):
        found.append((1 + near(sqrt(4 * found[-1] ** 2 + 1))) / 2)
    return found


def optimized_gradient_weights(n: int) -> list[Q]:
    """Return the weights of fast gradients, of which the last one is ``(1 + sqrt(8 t^2 + 1)) / 2``."""
    found = fast_gradient_weights(n - 1)
    return [*found, (1 + near(sqrt(8 * found[-1] ** 2 + 1))) / 2]
