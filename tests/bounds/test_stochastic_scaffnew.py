"""Scaffnew with stochastic gradients: exact expectations over the coin, the noise, and the memories of the clients."""

from fractions import Fraction as Q
from itertools import product

import numpy as np
import pytest

from fedtheory.bounds.proxskip import corrected_potential, stochastic_potential

# Two clients on a line, whose mean has the minimizer 0. ``draws`` returns the equally likely outcomes of a client's
# gradient at x and of its memory; ``right`` are the gradients at 0, and ``error`` is that of a memory.


def expected_potential(draws, x, variates, right, gamma, p, weight=0, error=lambda k, y: 0):
    """Return the expected potential after a step from the model x of both clients."""

    def variate_errors(variates):
        return (gamma / p) ** 2 * sum((h - best) ** 2 for h, best in zip(variates, right, strict=True)) / 2

    outcomes, total = [*product(draws(0), draws(1))], Q(0)
    for both in outcomes:
        moved = [x - gamma * (g - h) for (g, _), h in zip(both, variates, strict=True)]
        mean = sum(moved) / 2
        averaged = [h + p / gamma * (mean - y) for y, h in zip(moved, variates, strict=True)]
        total += p * (mean**2 + variate_errors(averaged))
        total += (1 - p) * (sum(y**2 for y in moved) / 2 + variate_errors(variates))
        total += gamma**2 * weight * sum(error(k, y) for k, (_, y) in enumerate(both)) / 2
    return total / len(outcomes)


def drawn(rng, high):
    return Q(int(rng.integers(1, high)))


@pytest.mark.parametrize("seed", range(6))
def test_no_noise_that_grows_with_the_gradient_exceeds_the_bound_and_equal_parabolas_attain_it(seed):
    rng, has_equal_clients = np.random.default_rng(seed), seed < 3
    a, relative = [Q(1), Q(1) if has_equal_clients else drawn(rng, 9)], [Q(1, 2), Q(int(has_equal_clients), 2)]
    v, x, right = [Q(1), Q(2)], drawn(rng, 9), [Q(2), Q(-2)]
    p = Q(1) if has_equal_clients else drawn(rng, 5) / 4
    variates = right if has_equal_clients else [Q(3), Q(-3)]

    def draws(k):
        # The mean of |g - h*|^2 is a^2 (1 + relative^2) x^2 + v^2, where a x^2 = 2 D.
        return [(a[k] * x * (1 + r * relative[k]) + right[k] + s * v[k], 0) for r, s in product((1, -1), repeat=2)]

    growth = max(h * (1 + r**2) for h, r in zip(a, relative, strict=True))
    known = {"step_size": 1 / (drawn(rng, 3) * growth), "probability": p, "mu": min(a), "growth": growth}
    known |= {"noise_floor": Q(5, 2), "initial_distance2": x**2, "control_error2": (variates[0] - right[0]) ** 2}
    left = expected_potential(draws, x, variates, right, known["step_size"], p)
    assert left <= stochastic_potential(1, **known)
    if has_equal_clients:
        assert left == stochastic_potential(1, **known)


@pytest.mark.parametrize("seed", range(6))
def test_no_finite_sums_with_memories_exceed_the_bound(seed):
    # Each F_k is the mean of two parabolas; the gradient of one at x replaces that at the model y of the memory, which
    # is x next time with probability 1/3 (SVRG without loops).
    rng = np.random.default_rng(seed)
    a, x, y, right = rng.integers(1, 9, (2, 2)).tolist(), drawn(rng, 9), drawn(rng, 9), [drawn(rng, 9), Q(0)]
    p, variates, right[1] = drawn(rng, 5) / 4, [drawn(rng, 9), Q(0)], -right[0]
    variates[1] = -variates[0]

    def draws(k):
        mean = Q(sum(a[k]), 2) * y + right[k]
        return [(h * (x - y) + mean, memory) for h in a[k] for memory in (x, y, y)]

    def error(k, y):
        return sum((h * y) ** 2 for h in a[k]) / 2

    L, q = Q(max(map(max, a))), Q(1, 3)
    known = {
        "growth": 2 * L,
        "memory_share": Q(2),
        "memory_growth": q * L,
        "memory_rate": 1 - q,
        "memory_weight": 4 / q,
    }
    known |= {"step_size": 1 / (6 * L), "probability": p, "mu": Q(min(map(sum, a)), 2), "initial_distance2": x**2}
    known |= {"control_error2": (variates[0] - right[0]) ** 2, "noise_floor": Q(0), "memory_floor": Q(0)}
    known |= {"initial_memory_error": (error(0, y) + error(1, y)) / 2}
    left = expected_potential(draws, x, variates, right, 1 / (6 * L), p, 4 / q, error)
    assert left <= corrected_potential(1, **known)
