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
    triangle_of,
    widened,
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


@pytest.mark.parametrize("kind", [np.asarray, widened])
def test_a_triangle_is_found_from_rows_whose_products_are_singular_in_their_digits(kind: Callable[[Any], Any]) -> None:
    # Rows that differ by delta have products that differ by its square, which is lost beside 1/9.
    delta = 1e-9 if kind is np.asarray else 1e-20
    rows = kind([[1.0, 0.0, 0.0], [1.0, delta, 0.0], [1.0, 0.0, 2 * delta]]) / kind(3.0)
    with pytest.raises(np.linalg.LinAlgError):
        cholesky(squares(rows))
    L = np.abs(matrix(widened(triangle_of([rows]))))
    # The first column is that of 1/3 in all digits, the others are delta's.
    assert max(abs(entry - Q(1, 3)) for entry in L[:, 0]) < Q(1, 10**15)
    assert L[1:, 1:].astype(float) == pytest.approx(np.diag([delta, 2 * delta]) / 3, rel=1e-6, abs=1e-6 * delta)
