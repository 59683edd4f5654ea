"""The recursion that Appendices C and E of Power-of-Choice solve by induction."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from fedtheory.rational.draws import whole
from fedtheory.verification.findings import Finding, at_most, worst_of

__all__ = ["Recursion", "draw_recursion"]


class Recursion(NamedTuple):
    """Eq. (65) with equality: ``Delta_{t+1} = (1 - eta_t mu B) Delta_t + eta_t^2 C + eta_t D``, steps beta/(t + gamma).

    Attributes
    ----------
    rate
        ``beta mu B``.
    beta, gamma, C, D, start
        As in eqs. (65) and (66); ``start`` is Delta_0.
    """

    rate: Fraction
    beta: Fraction
    gamma: Fraction
    C: Fraction
    D: Fraction
    start: Fraction

    def distances2(self, num_steps: int) -> list[Fraction]:
        """Delta_0, Delta_1, ..., Delta_T."""
        found = [self.start]
        for t in range(num_steps):
            eta = self.beta / (t + self.gamma)
            found.append((1 - self.rate / (t + self.gamma)) * found[-1] + eta**2 * self.C + eta * self.D)
        return found

    def psi(self, t: int) -> Fraction:
        """Eq. (66)."""
        steady = (self.beta**2 * self.C + self.D * self.beta * (t + self.gamma)) / (self.rate - 1)
        return max(self.gamma * self.start, steady)

    def against_psi(self, num_steps: int) -> Finding:
        """Compare with ``psi/(t + gamma)`` after one step or more."""
        words = {name: str(value) for name, value in self._asdict().items()}
        return worst_of(
            at_most(distance, self.psi(t) / (t + self.gamma), instance={**words, "t": t})
            for t, distance in enumerate(self.distances2(num_steps))
            if t
        )


def draw_recursion(rng: np.random.Generator) -> Recursion:
    """Draw a recursion with ``1 < beta mu B <= gamma``."""
    rate = 1 + Fraction(whole(rng, 1, 16), 4)
    gamma = rate * 2 ** whole(rng, 0, 4)
    C, D, start = (Fraction(whole(rng, 0, 6), 2) for _ in range(3))
    return Recursion(rate, Fraction(whole(rng, 1, 8), 4), gamma, C, D, start)
