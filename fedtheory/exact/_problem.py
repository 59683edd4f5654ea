"""A federation prepared for all bounds of its skews: in integers, and as quadratic forms in doubles."""

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from fedtheory._support.validate import Array
from fedtheory.arithmetic.matrices import is_semidefinite
from fedtheory.exact._crossings import order_of
from fedtheory.exact._forms import Forms, Optimum, forms, is_homogeneous
from fedtheory.exact._integer_forms import IntegerForms, Integers, integer_forms, largest_proved
from fedtheory.federation.quadratic import QuadraticFederation


@final
@dataclass(frozen=True, eq=False)
class Problem:
    """The clients, their forms, and correctly rounded numbers at w*.

    If the clients share their minimizer up to rounding, it was made identical in ``fed``. ``exact`` are the losses in
    integers, ``forms`` the ratios ``(F_k - F_k*) / D``, and ``excess`` is ``F_k(w*) - F_k*``, shape (K,).
    """

    fed: QuadraticFederation
    exact: IntegerForms
    forms: Forms
    excess: Array

    @property
    def objective_gap(self) -> float:
        return self.forms.optimum.objective_gap

    def proved(self, frequencies: Array, guess: float, constant: Fraction = Fraction(0)) -> float:
        """Return a number near the guess, or 0, with ``sum_k q_k (F_k - F_k*) + constant >= number D`` at all w."""
        skew = self.exact.skew(frequencies)
        return largest_proved(lambda number: is_semidefinite(skew.above(number, constant)), guess)

    def skew(self, frequencies: Array, w: Array) -> float:
        """Return the correctly rounded skew of frequencies at a model; infinite if it is optimal for all clients."""
        value = self.exact.skew(frequencies).at(self.exact.point(w))
        return float("inf") if value is None else float(value)

    def order(self, w: Array) -> Array:
        """Return numbers with exactly the order and ties of the losses at w; shape (K,)."""
        return order_of(self.exact.losses(self.exact.point(w)))


def busy_clients(fed: QuadraticFederation) -> QuadraticFederation:
    """Remove the clients of weight zero, which do not count in F and are never drawn by weight."""
    busy = fed.weights > 0
    if busy.all():
        return fed
    return QuadraticFederation(fed.curvatures[busy], fed.centers[busy], fed.weights[busy], fed.minima[busy])


def problem_of(fed: QuadraticFederation) -> Problem:
    """Prepare a federation."""
    if is_homogeneous(fed):
        busy = fed.weights > 0
        centers = np.where(busy[:, None], fed.centers[busy][0], fed.centers)
        fed = QuadraticFederation(fed.curvatures, centers, fed.weights, fed.minima)
    exact = integer_forms(fed)
    at, excess = _optimum(exact)
    return Problem(fed, exact, forms(fed, at), excess)


def _optimum(exact: IntegerForms) -> tuple[Optimum, Array]:
    """Return w*, with the numbers for the forms, and the excess losses there."""
    z = exact.optimal_point()
    length, size = exact.unit * z[-1], exact.scale * z[-1] ** 2
    excess = exact.excesses(z)
    offsets = _rounded(exact.centers * z[-1] - z[:-1], length)
    gap = Fraction(int(exact.weights @ excess), exact.weight_unit * size)
    return Optimum(_rounded(z[:-1], length), offsets, float(gap)), _rounded(excess, size)


def _rounded(numerators: Integers, denominator: int) -> Array:
    quotients = [float(Fraction(numerator, denominator)) for numerator in numerators.flat]
    return np.array(quotients).reshape(numerators.shape)
