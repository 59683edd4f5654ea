"""Random norms, budgets and correlated samplings, as exact rationals."""

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.rational.draws import whole
from fedtheory.rational.vectors import Vector, vector
from fedtheory.sampling.cohorts import Selection
from fedtheory.statistics.law import Law

__all__: list[str] = []

# Directions of rational length 1, so that norms of updates are rational too.
_DIRECTIONS = tuple(vector(x, y) for x, y in ((1, 0), (0, 1), ("3/5", "4/5"), ("-4/5", "3/5"), ("5/13", "-12/13")))


def draw_norms(rng: np.random.Generator, largest: int = 9) -> Vector:
    """Draw 1 to 9 norms: whole numbers with ties, many zeros, equal ones, or up to 500 orders of magnitude apart.

    >>> norms = draw_norms(np.random.default_rng(0), largest=5)
    >>> 1 <= len(norms) <= 5, min(norms) >= 0
    (True, True)
    """
    num_clients = whole(rng, 1, largest)
    kind = whole(rng, 0, 3)
    if kind == 0:
        return tuple(Fraction(whole(rng, 0, 6)) for _ in range(num_clients))
    if kind == 1:
        return tuple(Fraction(whole(rng, 0, 3) * whole(rng, 0, 1), 7) for _ in range(num_clients))
    if kind == 2:
        return (Fraction(whole(rng, 1, 9), 4),) * num_clients
    widest = (3, 30, 250)[whole(rng, 0, 2)]
    return tuple(whole(rng, 1, 99) * Fraction(2) ** whole(rng, -widest, widest) for _ in range(num_clients))


def draw_budget(rng: np.random.Generator, num_clients: int) -> Fraction:
    """Draw a budget in (0, n]: in eighths, whole, or all clients.

    >>> all(0 < draw_budget(np.random.default_rng(seed), 4) <= 4 for seed in range(9))
    True
    """
    kind = whole(rng, 0, 3)
    if kind == 0:
        return Fraction(whole(rng, 1, num_clients))
    return Fraction(num_clients) if kind == 1 else Fraction(whole(rng, 1, 8 * num_clients), 8)


def draw_updates(rng: np.random.Generator, num_clients: int) -> tuple[Vector, tuple[Vector, ...]]:
    """Draw weighted updates in the plane whose norms are rational; returns (norms, updates).

    >>> norms, updates = draw_updates(np.random.default_rng(0), 3)
    >>> [x * x + y * y for x, y in updates] == [norm**2 for norm in norms]
    True
    """
    norms = tuple(Fraction(whole(rng, 0, 8), 4) for _ in range(num_clients))
    turned = (_DIRECTIONS[whole(rng, 0, len(_DIRECTIONS) - 1)] for _ in norms)
    signs = (1 - 2 * whole(rng, 0, 1) for _ in norms)
    return norms, tuple(
        tuple(sign * norm * x for x in along) for norm, along, sign in zip(norms, turned, signs, strict=True)
    )


def draw_law(rng: np.random.Generator, num_clients: int) -> Law[Selection]:
    """Draw a sampling, correlated in any way, in which every client has a positive probability.

    >>> law = draw_law(np.random.default_rng(0), 3)
    >>> sum(law.values()), set().union(*law)
    (Fraction(1, 1), {0, 1, 2})
    """
    everybody = tuple(range(num_clients))
    sets = [everybody, *(tuple(i for i in everybody if whole(rng, 0, 1)) for _ in range(whole(rng, 1, 4)))]
    shares = [whole(rng, 1, 6) for _ in sets]
    return Law((chosen, Fraction(share, sum(shares))) for share, chosen in zip(shares, sets, strict=True))


def matrix_of(law: Law[Selection], num_clients: int) -> Any:
    """Probability matrix of a law, an object array of rationals.

    One of three: client 0 alone, or clients 1 and 2 together, which always come together.

    >>> matrix_of(Law({(0,): Fraction(1, 3), (1, 2): Fraction(2, 3)}), 3).tolist() == [
    ...     [Fraction(1, 3), 0, 0], [0, Fraction(2, 3), Fraction(2, 3)], [0, Fraction(2, 3), Fraction(2, 3)]
    ... ]
    True
    """

    def together(chosen: Selection) -> Any:
        drawn = np.array([Fraction(i in chosen) for i in range(num_clients)], dtype=object)
        return np.outer(drawn, drawn)

    return law.mean(together)


def as_floats(numbers: Vector) -> list[float]:
    """Round a vector.

    >>> as_floats((Fraction(1, 2), Fraction(3)))
    [0.5, 3.0]
    """
    return [float(number) for number in numbers]


def norms_in_words(norms: Vector, budget: Fraction) -> dict[str, Any]:
    """Name the numbers that define an instance.

    >>> norms_in_words((Fraction(1, 2), Fraction(3)), Fraction(2))
    {'norms': '1/2, 3', 'expected_size': '2'}
    """
    return {"norms": ", ".join(map(str, norms)), "expected_size": str(budget)}
