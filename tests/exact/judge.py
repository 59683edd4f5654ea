"""Selection skews in rational arithmetic at given models, as a reference for certified sides."""

# mypy: allow-untyped-defs, allow-untyped-calls

from fractions import Fraction
from math import isqrt

import numpy as np

from fedtheory.sampling.cohorts import cohort_law


def rational(values):
    """Doubles as exact rationals."""
    return np.vectorize(lambda number: Fraction(float(number)), otypes=[object])(np.asarray(values, dtype=float))


class Judge:
    """Skews of Power-of-Choice, ties broken at random, without any rounding."""

    def __init__(self, fed, m, d):
        self.H, self.centers, self.p = rational(fed.matrices), rational(fed.centers), rational(fed.weights)
        self.minima, self.m, self.d, self.known = rational(fed.minima), m, d, {}

    def excess(self, w):
        """``F_k(w) - F_k*``, shape (K,)."""
        offsets = w - self.centers
        return np.array([x @ (H @ x) / 2 for x, H in zip(offsets, self.H, strict=True)])

    def frequencies(self, w):
        """Mean coefficients at w."""
        losses = self.excess(w) + self.minima
        ranks = tuple(sorted(set(losses)).index(loss) for loss in losses)
        if ranks not in self.known:
            law = cohort_law(self.p, [Fraction(rank) for rank in ranks], self.m, self.d)
            q = [sum(chance for cohort, chance in law.items() if k in cohort) / self.m for k in range(len(ranks))]
            self.known[ranks] = np.array(q, dtype=object)
        return self.known[ranks]

    def skew(self, q, w):
        """``sum q_k (F_k - F_k*) / sum p_k (F_k - F_k*)``, or None for 0/0."""
        excess = self.excess(w)
        total = self.p @ excess
        return q @ excess / total if total else None

    def minimizer(self):
        """w*, by Gaussian elimination."""
        pulls = np.array([H @ c for H, c in zip(self.H, self.centers, strict=True)])
        rows = np.column_stack([np.tensordot(self.p, self.H, 1), self.p @ pulls])
        for i in range(len(rows)):
            rows[i] = rows[i] / rows[i, i]
            for j in range(len(rows)):
                if j != i:
                    rows[j] = rows[j] - rows[j, i] * rows[i]
        return rows[:, -1]

    def least_models(self, q):
        """Models where the skew of fixed frequencies is small: found in doubles, judged exactly."""
        from scipy.linalg import eigh

        H, c, p = (np.array(part, dtype=float) for part in (self.H, self.centers - self.minimizer(), self.p))
        form = np.array(
            [np.block([[h, -(h @ x)[:, None]], [-(x @ h)[None], x @ h @ x]]) for h, x in zip(H, c, strict=True)]
        )
        D = np.tensordot(p, form, 1)
        D[:-1, -1] = D[-1, :-1] = 0.0
        D[-1, -1] = max(D[-1, -1], 1e-30)
        z = eigh(np.tensordot(np.array(q, dtype=float), form, 1), D)[1][:, 0]
        tau = max(abs(z[-1]), 1e-9 * np.abs(z).max()) * (1 if z[-1] >= 0 else -1)
        return [self.minimizer() + rational(z[:-1] / tau), *self.centers]


def crossings(judge):
    """In one dimension: the models where two losses are equal, up to 2^-200, and models on both sides of each."""
    h, c, found = judge.H[:, 0, 0], judge.centers[:, 0], []
    for i in range(h.size):
        for j in range(i):
            a, b = (h[i] - h[j]) / 2, h[j] * c[j] - h[i] * c[i]
            constant = (h[i] * c[i] ** 2 - h[j] * c[j] ** 2) / 2 + judge.minima[i] - judge.minima[j]
            square = b * b - 4 * a * constant
            if a and square >= 0:
                exact = [isqrt(square.numerator), isqrt(square.denominator)]
                is_square = [part * part for part in exact] == [square.numerator, square.denominator]
                root = (
                    Fraction(*exact)
                    if is_square
                    else Fraction(isqrt((square.numerator << 400) // square.denominator), 1 << 200)
                )
                found += [(-b + root) / (2 * a), (-b - root) / (2 * a)]
            elif b and not a:
                found.append(-constant / b)
    beside = Fraction(1, 1 << 60)
    return [np.array([x + side * beside * (1 + abs(x))]) for x in found for side in (-1, 0, 1)]
