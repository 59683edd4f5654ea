"""Matrices of correlated samplings agree with their laws and their draws."""

# mypy: allow-untyped-calls

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from fedtheory.conformance import samplings
from fedtheory.sampling import JointLaw
from fedtheory.sampling.cohorts import with_replacement
from fedtheory.sampling.correlated import ExactlyOne, IndependentSampling, NiceSampling

SAMPLINGS = [
    ExactlyOne([0.2, 0.5, 0.3]),
    NiceSampling(4, 2),
    NiceSampling(3, 3),
    NiceSampling(1, 1),
    IndependentSampling([0.3, 1.0, 0.0, 0.6]),
    JointLaw([[True, True, False], [False, False, True], [False, False, False]], [0.5, 0.2, 0.3]),
]


@given(sampling=samplings())
def test_the_matrix_is_that_of_the_listed_law(sampling) -> None:
    law = sampling if isinstance(sampling, JointLaw) else sampling.law
    expected = sum(p * np.outer(members, members) for members, p in law.outcomes())
    np.testing.assert_allclose(sampling.matrix, expected, atol=1e-15)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_draws_have_the_frequencies_of_the_matrix(sampling) -> None:
    rng = np.random.default_rng(1)
    num_draws = 4000
    drawn = np.array([sampling.draw(rng) for _ in range(num_draws)], dtype=float)
    # Five standard errors of a frequency: about one seed in 10^5 fails, and the seed is fixed.
    error = 5 * np.sqrt(sampling.matrix * (1 - sampling.matrix) / num_draws)
    assert (np.abs(drawn.T @ drawn / num_draws - sampling.matrix) <= error + 1e-12).all()


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_the_same_seed_draws_the_same_set(sampling) -> None:
    assert np.array_equal(sampling.draw(7), sampling.draw(7))


def test_exactly_one_and_nice_samplings_have_their_sizes() -> None:
    rng = np.random.default_rng(2)
    assert {int(ExactlyOne([0.2, 0.8]).draw(rng).sum()) for _ in range(50)} == {1}
    assert {int(NiceSampling(1000, 30).draw(rng).sum()) for _ in range(50)} == {30}


def test_a_draw_may_be_changed_without_changing_the_law() -> None:
    law = JointLaw([[True, False]], [1.0])
    law.draw(0)[:] = False
    assert law.draw(0).tolist() == [True, False]


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_a_joint_law_can_be_read_off_the_law_of_its_cohorts(sampling) -> None:
    joint = sampling if isinstance(sampling, JointLaw) else sampling.law
    size = joint.members.shape[1]
    np.testing.assert_allclose(JointLaw.of(joint.cohorts, size).matrix, joint.matrix, atol=1e-15)
    assert all(joint.cohorts[frozenset(np.flatnonzero(members))] > 0 for members, p in joint.outcomes() if p > 0)


def test_a_law_of_tuples_makes_the_sampling_that_draws_them() -> None:
    joint = JointLaw.of(with_replacement([Fraction(1, 4), Fraction(3, 4)], 1), 2)
    np.testing.assert_array_equal(joint.matrix, ExactlyOne([0.25, 0.75]).matrix)
