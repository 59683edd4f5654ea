"""Rounds of SCAFFOLD with some of the clients: exact expectations over all subsets, and the range of step sizes."""

from fractions import Fraction as Q
from itertools import combinations, product

import numpy as np
import pytest

from fedtheory.bounds.scaffold import sampled_round
from fedtheory.instances.draws import draw_federation, draw_model
from fedtheory.instances.vectors import average, norm2


def paths(fed, w, variates, step_size, local_steps):
    """Yield the last model of each client, and the mean of its gradients."""
    lead = average(variates)
    for k, c in enumerate(variates):
        y, total = w, 0 * w
        for _ in range(local_steps):
            g = fed.gradient(k, y)
            y, total = y - step_size * (g - c + lead), total + g
        yield y, total / local_steps


def expected_potential(fed, w, variates, step_size, local_steps, num_selected, weight):
    """Return E |w_+ - w*|^2 + weight E C_+ over all subsets of the clients."""
    ended = list(paths(fed, w, variates, step_size, local_steps))
    right = fed.gradients(fed.minimizer)
    subsets = list(combinations(range(fed.num_clients), num_selected))
    total = Q(0)
    for subset in subsets:
        kept = [ended[k][1] if k in subset else c for k, c in enumerate(variates)]
        errors = sum(norm2(c - h) for c, h in zip(kept, right, strict=True)) / fed.num_clients
        total += norm2(average([ended[k][0] for k in subset]) - fed.minimizer) + weight * errors
    return total / len(subsets)


def allowed(weight, N, m, mu, L):
    """Return a total step h that is allowed: both hypotheses for h = 1/(a L) and h = m/(N mu)."""
    share = Q(N - m, m * (N - 1))
    return min(1 / ((2 + weight + 2 * share) * L), Q(m, N) / mu)


@pytest.mark.parametrize("seed", range(10))
def test_no_random_quadratics_exceed_the_bound_in_expectation_over_all_subsets(seed):
    rng = np.random.default_rng(seed)
    fed = draw_federation(rng, equal_weights=True)
    N, mu, L = fed.num_clients, fed.strong_convexity, fed.smoothness
    w, variates = draw_model(rng, fed.dim), [draw_model(rng, fed.dim) for _ in range(N)]
    right = fed.gradients(fed.minimizer)
    errors = sum(norm2(c - h) for c, h in zip(variates, right, strict=True)) / N
    gap = sum(fed.losses(w) - fed.losses(fed.minimizer)) / N
    for m, tau in product(range(1, N + 1), (1, 3)):
        omega = 4 * Q(N - m, m * (N - 1)) + 1
        h = allowed(omega, N, m, mu, L)
        known = {"step_size": h / tau, "local_steps": tau, "num_selected": m}
        left = expected_potential(fed, w, variates, weight=omega * Q(N, m) * h**2, **known) + h * gap
        constants = {"mu": mu, "L": L, "num_clients": N, "control_weight": omega}
        assert left <= sampled_round(norm2(w - fed.minimizer), variate_error2=errors, **constants, **known)


def test_the_steps_of_the_paper_are_allowed_with_its_weight_and_so_are_six_times_longer_ones():
    for N, m, tau, kappa in product((2, 10, 1000), (1, 2), (1, 10), (1, 100)):
        printed = min(Q(1, 81), Q(m * kappa, 15 * N))
        for h in (printed, min(Q(1, 13), Q(m * kappa, N))):
            constants = {"mu": Q(1, kappa), "L": Q(1), "num_clients": N, "num_selected": m, "local_steps": tau}
            known = constants | {"step_size": h / tau, "control_weight": Q(9)}
            assert sampled_round(Q(1), variate_error2=Q(1), **known, strict=False)[1] == []


def test_with_the_weight_of_the_paper_no_step_beyond_3_over_20_contracts_for_all_mu():
    # All clients are L w^2/2 with control variates of 0, so that a model of 1 moves to 1 - h L, and C_+ = m/N L^2.
    def change(h):
        return (1 - h) ** 2 + 9 * h**2 + h / 2 - 1

    assert change(Q(3, 20)) == 0
    assert change(Q(3, 20) + Q(1, 10**9)) > 0
