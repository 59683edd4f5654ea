"""Non-convex clients on the line in rational arithmetic."""

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from fedtheory.rational.vectors import Vector, inner

__all__: list[str] = []


@final
@dataclass(frozen=True)
class PhiClients:
    r"""Non-convex clients ``f_i(x) = a_i phi(x - c_i) + b_i x`` on the line, ``phi(t) = t^2 / (1 + t^2)``.

    Rational at rational points; ``phi''`` is between -1/2 and 2, so every f_i is L-smooth with ``L = 2 max a_i``.

    Attributes
    ----------
    amplitudes, centers, slopes, weights
        The a_i, c_i, b_i and w_i, one number per client.

    Examples
    --------
    One client with a = 3, c = 1 and b = 1/5 at x = 2: t = 1, so 3/2 + 2/5, and the slope 3 * 2/4 + 1/5.

    >>> clients = PhiClients((Fraction(3),), (Fraction(1),), (Fraction(1, 5),), (Fraction(1),))
    >>> clients.value((Fraction(2),)), clients.gradient(0, (Fraction(2),)), clients.smoothness
    (Fraction(19, 10), (Fraction(17, 10),), Fraction(6, 1))
    """

    amplitudes: Vector
    centers: Vector
    slopes: Vector
    weights: Vector

    def gradient(self, client: int, w: Vector) -> Vector:
        """Gradient of one client's objective."""
        t = w[0] - self.centers[client]
        return (self.amplitudes[client] * 2 * t / (1 + t * t) ** 2 + self.slopes[client],)

    def value(self, w: Vector) -> Fraction:
        """Objective ``sum_i w_i f_i``."""
        offsets = [w[0] - c for c in self.centers]
        losses = [
            a * t * t / (1 + t * t) + b * w[0] for a, t, b in zip(self.amplitudes, offsets, self.slopes, strict=True)
        ]
        return inner(self.weights, losses)

    @property
    def smoothness(self) -> Fraction:
        """L."""
        return 2 * max(self.amplitudes)

    @property
    def dissimilarity(self) -> Fraction:
        """Bound on ``sum_i w_i |grad f_i - grad f|^2``.

        With equal a_i and equal c_i it is the exact value at every w; otherwise, with slopes 0, it is from
        ``|phi'|^2 <= 27/64``.
        """
        if len(set(self.amplitudes)) == len(set(self.centers)) == 1:
            return inner(self.weights, [b * b for b in self.slopes])
        return Fraction(27, 64) * inner(self.weights, [a * a for a in self.amplitudes])
