"""Pairs of doubles agree with rationals to 30 digits, and solve systems that doubles cannot solve."""

from collections.abc import Callable
from fractions import Fraction as Q
from typing import Any

import numpy as np
import pytest

from fedtheory.worst_case._double_double import (
    DoubleDouble,
    cholesky,
    solve_lower,
    solve_upper,
    squares,
)  # fmt: skip

# A unit in the last place of two doubles is 2^-106; the operations lose a few.
DIGITS = Q(1, 2**100)


def pairs(rng: np.random.Generator, *shape: int) -> DoubleDouble:
    """Numbers of both signs over ten powers of ten, with all digits."""
    high = rng.normal(size=shape) * 10.0 ** rng.integers(-5, 6, size=shape)
    return DoubleDouble(high) + DoubleDouble(high * rng.normal(size=shape) * 2.0**-54)


def matrix(numbers: DoubleDouble) -> Any:
    return np.array(numbers.fractions(), dtype=object).reshape(numbers.shape)


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
}


@pytest.mark.parametrize("sign", OPERATIONS)
@pytest.mark.parametrize("seed", range(2))
def test_operations_are_those_of_rationals_to_thirty_digits(sign: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = pairs(rng, 200), pairs(rng, 200)
    for found, x, y in zip(OPERATIONS[sign](a, b).fractions(), a.fractions(), b.fractions(), strict=True):
        exact = OPERATIONS[sign](x, y)
        size = max(abs(x), abs(y)) if sign in "+-" else abs(exact)
        assert abs(found - exact) <= DIGITS * size


@pytest.mark.parametrize("seed", range(1))
def test_matrices_are_multiplied_row_by_column(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = DoubleDouble(rng.normal(size=(2, 3, 4))), DoubleDouble(rng.normal(size=(4, 5)))
    exact = matrix(a).reshape(6, 4) @ matrix(b)
    found = a @ b
    assert found.shape == (2, 3, 5)
    assert np.abs(matrix(found).reshape(6, 5) - exact).max() < 20 * DIGITS
    rows = a.reshape(6, 4)
    assert np.abs(matrix(squares(rows)) - matrix(rows) @ matrix(rows).T).max() < 20 * DIGITS
    assert (matrix(a.swapaxes(0, 2)) == matrix(a).swapaxes(0, 2)).all()


@pytest.mark.parametrize("size", [1, 2, 7])
def test_triangles_and_their_inverses_are_those_of_the_matrix(size: int) -> None:
    rng = np.random.default_rng(size)
    rows = pairs(rng, size, size + 2)
    G, right = squares(rows), pairs(rng, size, 3)
    scale = Q(float(np.abs(G.high).max()))
    L = cholesky(G)
    assert np.abs(matrix(L) @ matrix(L).T - matrix(G)).max() <= 100 * DIGITS * scale
    assert not np.triu(L.high, 1).any()
    for solve, factor in ((solve_lower, matrix(L)), (solve_upper, matrix(L).T)):
        x = matrix(solve(L, right))
        assert np.abs(factor @ x - matrix(right)).max() <= 1000 * DIGITS * np.abs(factor).max() * np.abs(x).max()
