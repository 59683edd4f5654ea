"""FedProx: wrong proximal terms of public code are detected, and the correct term passes."""

import numpy as np
import pytest

from fedtheory.conformance import check_method
from tests.environment import thinned

WEIGHT = 0.5


def fedprox(term):
    """FedProx with a term of the local model and the server's."""

    def method(gradients, weights, initial, num_rounds, local_steps, step_size, rng):
        x = initial.copy()
        for _ in range(num_rounds):
            ends = []
            for k, gradient in enumerate(gradients):
                y = x.copy()
                for _ in range(local_steps[k]):
                    y = y - step_size * (gradient(y) + term(y, x))
                ends.append(y)
            x = weights @ np.array(ends)
        return x

    return method


# Each was reported of public code: the term is zero, compares the model with itself, is not squared, lacks the factor
# 1/2 or is halved twice, or has the opposite sign.
WRONG = {
    "zero": lambda y, x: 0 * y,
    "aliased": lambda y, x: WEIGHT * (y - y),
    "not squared": lambda y, x: WEIGHT / 2 * (y - x) / max(np.linalg.norm(y - x), 1e-12),
    "doubled": lambda y, x: 2 * WEIGHT * (y - x),
    "halved": lambda y, x: WEIGHT / 2 * (y - x),
    "opposite sign": lambda y, x: WEIGHT * (x - y),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", thinned(WRONG, 3))
def test_a_wrong_proximal_term_is_found_in_the_first_rounds(name):
    found = check_method(fedprox(WRONG[name]), None, proximal_weight=WEIGHT)
    assert "first rounds" in [failure.check for failure in found.failures]
    assert check_method(fedprox(WRONG["zero"]), None).holds  # which is right without the term


@pytest.mark.slow
@pytest.mark.parametrize("seed", thinned(range(4), 4))
def test_the_right_proximal_term_is_not_refused(seed):
    assert check_method(fedprox(lambda y, x: WEIGHT * (y - x)), None, seed, proximal_weight=WEIGHT).holds
