"""EF21 with two clients: exact expectations over all outcomes of the compressors, at the longest step sizes."""

from fractions import Fraction as Q
from itertools import product

import numpy as np
import pytest

from fedtheory.bounds.ef21 import average_gradient, polyak_gap

S = Q(1, 2)
ONE, TURN = np.diag([Q(1), Q(1)]), np.array([[0, -1], [1, 0]])
# Each outcome: its probability, and the matrix whose product with v is C(v); the mean of |C(v) - v|^2 is s^2 |v|^2.
COMPRESSORS = {
    "all or nothing": [(1 - S**2, ONE), (S**2, 0 * ONE)],
    "too long": [(Q(1), (1 + S) * ONE)],
    "too short": [(Q(1), (1 - S) * ONE)],
    "turned": [(Q(1), ONE + S * TURN)],
}


def moved(gradients, w, memories, compressions, eta):
    after = w - eta * sum(memories) / 2
    changes = [C @ (g(after) - d) for g, C, d in zip(gradients, compressions, memories, strict=True)]
    return after, [d + change for d, change in zip(memories, changes, strict=True)]


def laws(gradients, w, memories, outcomes, eta, num_rounds):
    """Return the probabilities and values of the model after 0, ..., T rounds."""
    states = [[(Q(1), w, memories)]]
    for _ in range(num_rounds):
        drawn = [(p * q, (C, D)) for (p, C), (q, D) in product(outcomes, repeat=2)]
        steps = product(states[-1], drawn)
        states.append([(chance * p, *moved(gradients, w, old, both, eta)) for (chance, w, old), (p, both) in steps])
    return [[(chance, w) for chance, w, _ in law] for law in states]


def longest(bound, known):
    """Return the longest step size that the hypotheses allow, in twentieths of 1/L."""
    sizes = [Q(k, 20) / known["L"] for k in range(1, 20)]
    return max(eta for eta in sizes if not bound(2, **known, step_size=eta, strict=False)[1])


@pytest.mark.parametrize("outcomes", COMPRESSORS.values(), ids=COMPRESSORS)
@pytest.mark.parametrize("seed", range(3))
def test_no_clients_exceed_the_bounds_in_expectation_even_if_one_of_them_is_concave(seed, outcomes):
    rng = np.random.default_rng(seed)
    a, b, c, d, w, *memories = (np.array([Q(int(k), 4) for k in rng.integers(-8, 9, 2)]) for _ in range(7))
    mean, curvatures = abs(a) + 1, [abs(a) + 1 + b, abs(a) + 1 - b]
    gradients = [lambda x: curvatures[0] * x + c, lambda x: curvatures[1] * x + d]
    best = -(c + d) / 2 / mean

    def gap(x):
        return (mean * (x - best) ** 2).sum() / 2

    errors = [memory - g(w) for memory, g in zip(memories, gradients, strict=True)]
    known = {"L": max(mean), "client_L": abs(np.array(curvatures)).max(), "compression_error": S}
    known |= {"initial_gap": gap(w), "memory_error2": sum(error @ error for error in errors) / 2}
    eta = longest(average_gradient, known)
    first, second = laws(gradients, w, memories, outcomes, eta, 1)
    squares = sum(p * ((mean * (x - best)) ** 2).sum() for p, x in first + second)
    assert squares / 2 <= average_gradient(2, **known, step_size=eta)
    known |= {"mu": min(mean)}
    eta = longest(polyak_gap, known)
    *_, last = laws(gradients, w, memories, outcomes, eta, 2)
    assert sum(p * gap(x) for p, x in last) <= polyak_gap(2, **known, step_size=eta)
