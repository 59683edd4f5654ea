r"""The clients' losses as quadratic forms in integers, for inequalities without rounding.

A double is an integer divided by a power of two. Up to one common factor, ``F_k(w) - F_k*`` is therefore a quadratic
form with integer coefficients in (w, 1), in a unit of length in which all centers are integers. A number is at most the
skew of fixed frequencies at every model if and only if one integer matrix is positive semidefinite.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt

from fedtheory._support.validate import Array
from fedtheory.arithmetic.matrices import over_common, solved
from fedtheory.federation.quadratic import QuadraticFederation

Integers = npt.NDArray[Any]


def integers(values: npt.ArrayLike) -> tuple[Integers, int]:
    """Integers n and a power of two d with ``values = n / d``, exactly."""
    floats = np.asarray(values, dtype=np.float64)
    numerators, unit = over_common(map(Fraction, floats.ravel().tolist()))
    return numerators.reshape(floats.shape), unit


class Quotient(NamedTuple):
    """Skew as a quotient of two forms: ``sum_k q_k (F_k - F_k*)`` and ``sum_k p_k (F_k - F_k*)``, times ``scale``."""

    numerator: Integers
    denominator: Integers
    scale: int

    def at(self, z: Integers) -> Fraction | None:
        """Return the value at z; None if it is 0/0 or infinite."""
        below = z @ self.denominator @ z
        return Fraction(int(z @ self.numerator @ z), int(below)) if below else None

    def above(self, number: float, constant: Fraction = Fraction(0)) -> Integers:
        """Return the form of ``sum_k (q_k - number p_k) (F_k - F_k*) + constant``, up to a positive factor."""
        above, below = float(number).as_integer_ratio()
        form: Integers = constant.denominator * (below * self.numerator - above * self.denominator)
        form[-1, -1] += constant.numerator * below * self.scale
        return form


@final
@dataclass(frozen=True, eq=False)
class IntegerForms:
    """``scale (F_k(w) - F_k*) = z' forms_k z`` and ``scale F_k* = minima_k`` with ``z = (unit w, 1)``.

    ``centers`` are the minimizers in the unit of length, and ``weights / weight_unit`` the objective weights. The units
    and ``scale`` are powers of two.
    """

    forms: Integers
    centers: Integers
    minima: Integers
    weights: Integers
    unit: int
    scale: int
    weight_unit: int

    @cached_property
    def total(self) -> Integers:
        mixed: Integers = np.tensordot(self.weights, self.forms, 1)
        return mixed

    def excesses(self, z: Integers) -> Integers:
        result: Integers = (self.forms @ z) @ z
        return result

    def losses(self, z: Integers) -> Integers:
        """Return ``z' forms_k z + z_last^2 minima_k``, proportional to the losses, shape (K,)."""
        result: Integers = self.excesses(z) + z[-1] ** 2 * self.minima
        return result

    def point(self, w: Array) -> Integers:
        """Return z of a model, up to a factor."""
        whole, unit = integers(w)
        return np.append(self.unit * whole, unit)

    def optimal_point(self) -> Integers:
        """Return z of the minimizer w* of F, up to a factor."""
        return np.append(*over_common(solved(self.total[:-1, :-1], -self.total[:-1, -1])))

    def skew(self, frequencies: Array) -> Quotient:
        """Skew of these frequencies as a function of the model."""
        q, unit = integers(frequencies)
        numerator = self.weight_unit * np.tensordot(q, self.forms, 1)
        return Quotient(numerator, unit * self.total, self.scale * unit * self.weight_unit)


def integer_forms(fed: QuadraticFederation) -> IntegerForms:
    """Convert the federation's doubles to integers."""
    curvatures, curvature_unit = integers(fed.curvatures)
    centers, unit = integers(fed.centers)
    minima, minimum_unit = integers(fed.minima)
    weights, weight_unit = integers(fed.weights)
    identity = np.eye(fed.dim, dtype=int).astype(object)
    H = curvatures if curvatures.ndim == 3 else curvatures.reshape(fed.num_clients, -1, 1) * identity
    pulls = (H @ centers[:, :, None])[..., 0]
    forms = np.empty((fed.num_clients, fed.dim + 1, fed.dim + 1), dtype=object)
    forms[:, :-1, :-1] = H
    forms[:, :-1, -1] = forms[:, -1, :-1] = -pulls
    forms[:, -1, -1] = (pulls * centers).sum(axis=1)
    twice = 2 * curvature_unit * unit**2
    return IntegerForms(minimum_unit * forms, centers, twice * minima, weights, unit, twice * minimum_unit, weight_unit)


def largest_proved(holds: Callable[[float], bool], guess: float) -> float:
    """Return a number, at most the guess, for which a bound is proved, by growing steps down; 0 needs no proof."""
    step, number = 2.0**-50, guess
    while number > 0:
        if holds(number):
            return number
        number = guess * (1 - step)
        step *= 4
    return 0.0
