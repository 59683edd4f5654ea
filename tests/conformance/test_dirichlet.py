"""A generator of Dirichlet shares that underflows is rejected with the reason, and a correct one passes."""

import numpy as np
import pytest

from fedtheory.conformance import check_generator
from fedtheory.datasets.class_shares import underflowing_shares


def numpys(concentration, num_classes, num_clients, rng):
    return rng.dirichlet([concentration] * num_classes, num_clients)


def underflows(concentration, num_classes, num_clients, rng):
    return underflowing_shares(rng, concentration, num_clients, num_classes)


def always_one(concentration, num_classes, num_clients, rng):
    return np.eye(num_classes)[rng.integers(num_classes, size=num_clients)]


@pytest.mark.parametrize("seed", range(5))
def test_a_right_generator_passes(seed):
    assert check_generator(numpys, seed, law="dirichlet").failures == ()


def test_draws_that_are_uniform_at_a_small_concentration_are_refused_with_the_reason():
    [failure] = check_generator(underflows, law="dirichlet").failures
    assert failure.check == "underflow"
    assert failure.sentence.startswith(
        "for the concentration 0.0001 at most 0.18% of the clients may have no class with"
    )
    assert "have equal shares of all classes, since gamma variables of such a small shape underflow" in failure.sentence


@pytest.mark.parametrize(
    ("wrong", "check", "text"),
    [
        (always_one, "shares", "a share must have the law Beta"),
        (lambda a, c, k, rng: numpys(2 * a, c, 10 * k, rng)[:k], "shares", "a share must have the law Beta"),
        (lambda a, c, k, rng: numpys(1.0, c, k, rng), "underflow", "may have no class with more than half, got"),
        (lambda a, c, k, rng: numpys(a, c, k, rng)[:, 1:], "shape", "must return numbers of shape"),
        (lambda a, c, k, rng: 2 * numpys(a, c, k, rng), "shape", "must be at least 0 with the sum 1"),
        (lambda a, c, k, rng: numpys(a, c, k, np.random.default_rng(0)), "new draws", "must give different shares"),
        (lambda a, c, k, rng: numpys(a, c, k, np.random.default_rng()), "same generator", "must give equal shares"),
        (lambda a, c, k, rng: "shares", "shape", "must return numbers, got"),
    ],
)
def test_other_faults_are_found_by_name(wrong, check, text):
    found = {
        failure.check: failure.sentence for failure in check_generator(wrong, law="dirichlet", num_clients=800).failures
    }
    assert check in found
    assert text in found[check]
