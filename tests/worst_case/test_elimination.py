"""Both eliminations of a step solve the same equations, and sparse forms equal arrays."""

from typing import NamedTuple

import numpy as np
import pytest

from fedtheory._support.validate import Array
from fedtheory.worst_case._elimination import ForMatrices, ForMultipliers
from fedtheory.worst_case._sparse_forms import SparseForms, at, combined

SIZES, NUM_CONSTRAINTS, NUM_VALUES = (3, 2), 14, 2


class Equations(NamedTuple):
    grams: list[Array]
    a: Array
    X: list[Array]
    Z: list[Array]
    ratios: Array


def definite(rng: np.random.Generator, size: int) -> Array:
    root = rng.normal(size=(size, size))
    return root @ root.T + np.eye(size)


def equations(seed: int) -> Equations:
    rng = np.random.default_rng(seed)
    grams = [rng.normal(size=(1 + NUM_CONSTRAINTS, size, size)) for size in SIZES]
    grams = [gram + gram.swapaxes(1, 2) for gram in grams]
    X, Z = ([definite(rng, size) for size in SIZES] for _ in range(2))
    return Equations(grams, rng.normal(size=(NUM_CONSTRAINTS, NUM_VALUES)), X, Z, rng.uniform(1e-3, 1, NUM_CONSTRAINTS))


def sparse(gram: Array) -> SparseForms:
    upper = np.triu(gram)
    forms, rows, columns = upper.nonzero()
    return SparseForms(gram.shape, forms, rows, columns, upper[forms, rows, columns])


def eliminated(given: Equations) -> tuple[ForMultipliers, ForMatrices]:
    triangles = [np.linalg.cholesky(X) for X in given.X]
    roots = [np.linalg.inv(np.linalg.cholesky(Z)) for Z in given.Z]
    forms = [sparse(gram) for gram in given.grams]
    return (
        ForMultipliers(given.grams, given.a, triangles, roots, given.ratios),
        ForMatrices(forms, given.a, triangles, given.Z, given.ratios),
    )


def answer(given: Equations, dy: Array) -> list[Array]:
    """Return ``(X S Z^-1 + Z^-1 S X)/2`` for ``S = sum dy A``, from its definition."""
    found = []
    for gram, X, Z in zip(given.grams, given.X, given.Z, strict=True):
        half = X @ np.einsum("i,ijk->jk", dy, gram[1:]) @ np.linalg.inv(Z)
        found.append((half + half.T) / 2)
    return found


@pytest.mark.parametrize("way", [0, 1], ids=["multipliers", "matrices"])
def test_a_solution_fulfills_both_equations(way: int) -> None:
    given, rng = equations(0), np.random.default_rng(1)
    right, level = rng.normal(size=NUM_CONSTRAINTS), rng.normal(size=NUM_VALUES)
    dy, df, moved = eliminated(given)[way].solve(right, level)
    lost = answer(given, dy)
    left = sum(np.einsum("ijk,jk->i", gram[1:], V) for gram, V in zip(given.grams, lost, strict=True))
    np.testing.assert_allclose(left + given.ratios * dy - given.a @ df, right, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(given.a.T @ dy, level, rtol=1e-9, atol=1e-9)
    for V, other in zip(lost, moved or lost, strict=True):
        np.testing.assert_allclose(V, other, rtol=1e-9, atol=1e-9)


def test_the_products_with_the_objective_are_those_of_their_definition() -> None:
    given = equations(2)
    wanted = np.zeros(1 + NUM_CONSTRAINTS)
    for gram, X, Z in zip(given.grams, given.X, given.Z, strict=True):
        wanted += np.einsum("ijk,jk->i", gram, X @ gram[0] @ np.linalg.inv(Z))
    for elimination in eliminated(given):
        np.testing.assert_allclose(elimination.of_objective, wanted, rtol=1e-9)


def test_constraints_that_are_nearly_equations_leave_a_solution_with_small_slack() -> None:
    # Weights from 1 to 1e18: products of rows have no digits left, so that the triangle comes from the rows themselves.
    given = equations(3)
    ratios = np.where(np.arange(NUM_CONSTRAINTS) % 2, 1e-16, 1e2)
    _, elimination = eliminated(given._replace(ratios=ratios))
    right, level = np.random.default_rng(4).normal(size=NUM_CONSTRAINTS), np.zeros(NUM_VALUES)
    dy, df, moved = elimination.solve(right, level)
    left = sum(np.einsum("ijk,jk->i", gram[1:], V) for gram, V in zip(given.grams, moved, strict=True))
    np.testing.assert_allclose(left + ratios * dy - given.a @ df, right, rtol=1e-9, atol=1e-9)


def test_sparse_forms_are_those_of_the_array() -> None:
    rng = np.random.default_rng(5)
    gram = equations(6).grams[0] * (rng.random((1 + NUM_CONSTRAINTS, 1, 1)) < 0.7)
    forms, X, y = sparse(gram), definite(rng, SIZES[0]), rng.normal(size=NUM_CONSTRAINTS)
    np.testing.assert_allclose(at(forms, X), at(gram, X), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(combined(forms, y), combined(gram, y), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(forms[2], gram[2])
    T, (i, j) = rng.normal(size=(3, 3)), np.triu_indices(3)
    np.testing.assert_allclose(forms.turned(T), (T.T @ gram @ T)[:, i, j], rtol=1e-12, atol=1e-12)


def test_combinations_of_forms_see_what_a_form_sees() -> None:
    # No form sees (1, 1, -2), and each form alone sees one more vector than a zero matrix.
    directions = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, 1.0], [2.0, 0.0, 1.0]])
    gram = np.stack([np.outer(u, u) for u in directions])
    _, singular, right = np.linalg.svd(sparse(gram).seen())
    np.testing.assert_allclose(singular[2], 0, atol=1e-12)
    assert singular[1] > 1e-3
    np.testing.assert_allclose(np.abs(right[2]), np.array([1.0, 1.0, 2.0]) / np.sqrt(6), rtol=1e-9)
