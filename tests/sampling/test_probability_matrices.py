"""Variances and Lemma 1 from probability matrices, against the enumeration of all outcomes."""

# mypy: allow-untyped-calls

from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest

from fedtheory.sampling import estimator_variance, smallest_uniform_v, variance, variance_bound
from fedtheory.sampling.probability_matrices import admissibility_margin


class JointLaw(NamedTuple):
    """Sets, one per row, with their probabilities."""

    members: Any
    probabilities: Any

    @property
    def matrix(self):
        return (self.members * self.probabilities[:, None]).T @ self.members


def random_law(rng, n):
    num_sets = int(rng.integers(2, 7))
    members = rng.random((num_sets, n)) < 0.5
    members[0] = True  # proper: everybody is drawn now and then
    weights = rng.dirichlet(np.ones(num_sets))
    return JointLaw(members, weights / weights.sum())


def independent(p):
    """Probability matrix of independent sampling."""
    matrix = np.outer(p, p)
    np.fill_diagonal(matrix, p)
    return matrix


def enumerated(law, vectors):
    p = np.diagonal(law.matrix)
    errors = [(vectors[members] / p[members, None]).sum(axis=0) - vectors.sum(axis=0) for members in law.members]
    return float(law.probabilities @ [error @ error for error in errors])


def test_the_variance_from_the_matrix_is_that_of_all_outcomes() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        n = int(rng.integers(1, 6))
        law, vectors = random_law(rng, n), rng.normal(size=(n, 2))
        assert estimator_variance(law.matrix, vectors) == pytest.approx(enumerated(law, vectors), rel=1e-10, abs=1e-12)


def test_lemma_1_and_its_smallest_v() -> None:
    rng = np.random.default_rng(2)
    for _ in range(200):
        n = int(rng.integers(2, 6))
        law, vectors = random_law(rng, n), rng.normal(size=(n, 2))
        p, v = np.diagonal(law.matrix), smallest_uniform_v(law.matrix)
        # v is admissible, a little less is not, and it is never below 1 - p_i.
        assert admissibility_margin(law.matrix, np.full(n, v)) >= -1e-12
        assert admissibility_margin(law.matrix, np.full(n, v * (1 - 1e-6))) < 0 or v < 1e-9
        assert v >= (1 - p).max() - 1e-12
        bound = variance_bound(np.linalg.norm(vectors, axis=1), p, np.full(n, v))
        assert estimator_variance(law.matrix, vectors) <= bound * (1 + 1e-10)


def test_independent_sampling_admits_one_minus_p_and_attains_the_bound() -> None:
    rng = np.random.default_rng(3)
    p, vectors = rng.uniform(0.1, 1, 5), rng.normal(size=(5, 3))
    matrix = independent(p)
    norms = np.linalg.norm(vectors, axis=1)
    assert admissibility_margin(matrix, 1 - p) == pytest.approx(0, abs=1e-15)
    assert estimator_variance(matrix, vectors) == pytest.approx(variance_bound(norms, p, 1 - p), rel=1e-12)
    assert estimator_variance(matrix, vectors) == pytest.approx(variance(norms, p), rel=1e-12)


def test_averaged_over_signs_every_sampling_has_the_independent_variance() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        n = int(rng.integers(1, 6))
        law, vectors = random_law(rng, n), rng.normal(size=(n, 2))
        signs = np.array(list(product((-1, 1), repeat=n)))
        values = [estimator_variance(law.matrix, s[:, None] * vectors) for s in signs]
        expected = variance(np.linalg.norm(vectors, axis=1), np.diagonal(law.matrix))
        assert np.mean(values) == pytest.approx(expected, rel=1e-10, abs=1e-12)


HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


@pytest.mark.parametrize(
    ("matrix", "vectors", "expected"),
    [
        ([[HALF, 0], [0, HALF]], [HALF, HALF], 0),
        ([[HALF, 0], [0, HALF]], [HALF, -HALF], 1),
        ([[HALF, 0, 0], [0, Fraction(1, 6), 0], [0, 0, THIRD]], [HALF, Fraction(1, 6), THIRD], 0),
        ([[2 * THIRD, THIRD, THIRD], [THIRD, 2 * THIRD, THIRD], [THIRD, THIRD, 2 * THIRD]], [THIRD] * 3, 0),
    ],
)
def test_correlated_samplings_whose_variance_is_known_exactly(matrix, vectors, expected) -> None:
    exact = np.array([[Fraction(x) for x in row] for row in matrix], dtype=object)
    assert estimator_variance(exact, np.array([[Fraction(x)] for x in vectors], dtype=object)) == expected
