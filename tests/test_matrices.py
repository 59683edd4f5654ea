"""Linear algebra in rationals: results fulfill the equations, checked without elimination."""

from fractions import Fraction as Q
from itertools import combinations, permutations
from math import prod
from typing import Any

import numpy as np
import pytest

from fedtheory.arithmetic.matrices import (
    independent,
    inverse,
    is_semidefinite,
    kernel,
    product,
    root,
    solve_exactly,
    solved,
    whole_product,
)  # fmt: skip

SEEDS = range(10)


def drawn(rng: np.random.Generator, *shape: int) -> Any:
    """Draw small rationals, of which many are 0."""
    numbers = [Q(int(rng.integers(-3, 4)), int(rng.integers(1, 4))) for _ in range(prod(shape))]
    return np.array([*numbers, None], dtype=object)[:-1].reshape(shape)


def sparse(matrix: Any) -> list[dict[int, Q]]:
    return [{row: c for row, c in enumerate(column) if c} for column in matrix.T]


def determinant(matrix: Any) -> Q:
    """Return the sum over all permutations."""
    total = Q(0)
    for places in permutations(range(len(matrix))):
        sign = (-1) ** sum(i > j for i, j in combinations(places, 2))
        total += sign * prod((matrix[row, place] for row, place in enumerate(places)), start=Q(1))
    return total


@pytest.mark.parametrize("seed", SEEDS)
def test_an_inverse_and_a_solution_fulfill_their_equations(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix, right = drawn(rng, 3, 3), drawn(rng, 3)
    if determinant(matrix) == 0:
        with pytest.raises(ValueError, match="one solution"):
            solved(matrix.tolist(), right.tolist())
        return
    assert (product(matrix, inverse(matrix)) == np.eye(3, dtype=int)).all()
    assert (matrix @ np.array(solved(matrix.tolist(), right.tolist())) == right).all()


@pytest.mark.parametrize("shape", [(2, 5), (3, 3), (40, 4)], ids=str)
@pytest.mark.parametrize("seed", SEEDS)
def test_columns_are_combinations_of_those_before_them_or_independent(seed: int, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng([seed, *shape])
    rank = int(rng.integers(1, min(shape) + 1))
    matrix = drawn(rng, shape[0], rank) @ drawn(rng, rank, shape[1])
    columns, nulls = sparse(matrix), kernel(sparse(matrix))
    chosen = independent(columns)
    assert len(chosen) + len(nulls) == shape[1]
    for null in nulls:
        last = max(null)
        assert last not in chosen
        assert {*null} <= {last, *chosen}
        assert null[last] == 1
        assert not any(sum(c * matrix[row, place] for place, c in null.items()) for row in range(shape[0]))
    # Independent columns have a Gram matrix whose determinant is not 0.
    kept = matrix[:, chosen]
    assert determinant(kept.T @ kept) > 0 or not chosen
    goal = matrix @ drawn(rng, shape[1])
    found = solve_exactly(columns, sparse(goal[:, None])[0])
    assert {*found} <= {*chosen}
    assert (sum((c * matrix[:, place] for place, c in found.items()), np.zeros(shape[0], dtype=int)) == goal).all()


def test_what_is_no_combination_is_refused() -> None:
    with pytest.raises(ArithmeticError, match="must be a combination of the 1 columns"):
        solve_exactly([{0: Q(1)}], {1: Q(1)})


@pytest.mark.parametrize("seed", SEEDS)
def test_a_matrix_is_semidefinite_if_no_principal_minor_is_negative(seed: int) -> None:
    rng = np.random.default_rng(seed)
    half = drawn(rng, 4, int(rng.integers(1, 5)))
    matrix = half @ half.T - Q(int(rng.integers(0, 3)), 9) * np.eye(4, dtype=int)
    places = [some for size in range(1, 5) for some in combinations(range(4), size)]
    expected = all(determinant(matrix[np.ix_(some, some)]) >= 0 for some in places)
    assert is_semidefinite(matrix.tolist()) == expected
    if expected:
        rows = np.array(root(matrix.tolist()))
        assert rows @ rows.T == pytest.approx(matrix.astype(float), abs=1e-12)


def test_whole_numbers_have_no_limit() -> None:
    large = np.array([[10**50, 3]], dtype=object)
    assert whole_product(large, large.T).tolist() == [[10**100 + 9]]
