"""Rounds of SCAFFOLD with some of the clients: exact expectations over subsets and noise, and which steps are short."""

from fractions import Fraction as Q
from itertools import combinations, product

import numpy as np
import pytest

from fedtheory.bounds.scaffold import sampled_round
from fedtheory.instances.draws import draw_federation, draw_model
from fedtheory.instances.vectors import average, norm2
from fedtheory.worst_case import compared


def outcomes(fed, w, variates, step_size, local_steps, noise):
    """Return each client's equally likely last models with the means of its gradients, which have noises of +-noise."""
    lead, found = average(variates), []
    for k, c in enumerate(variates):
        law = [(w, 0 * w)]
        for _ in range(local_steps):
            drawn = [(y, total, fed.gradient(k, y) + sign * noise) for y, total in law for sign in (1, -1)]
            law = [(y - step_size * (g - c + lead), total + g) for y, total, g in drawn]
        found.append([(y, total / local_steps) for y, total in law])
    return found


def mean_and_variance(vectors):
    mean = average(vectors)
    return mean, sum(norm2(v - mean) for v in vectors) / len(vectors)


def expected_potential(fed, w, variates, step_size, local_steps, num_selected, weight, noise):
    """Return E |w_+ - w*|^2 + weight E C_+ over all subsets of the clients and their independent noises."""
    laws = outcomes(fed, w, variates, step_size, local_steps, noise)
    ended = [mean_and_variance([y for y, _ in law]) for law in laws]
    right = fed.gradients(fed.minimizer)
    new = [sum(norm2(g - h) for _, g in law) / len(law) for law, h in zip(laws, right, strict=True)]
    old = [norm2(c - h) for c, h in zip(variates, right, strict=True)]
    subsets = list(combinations(range(fed.num_clients), num_selected))
    total = Q(0)
    for subset in subsets:
        errors = sum(new[k] if k in subset else old[k] for k in range(fed.num_clients)) / fed.num_clients
        spread = sum(ended[k][1] for k in subset) / num_selected**2
        total += norm2(average([ended[k][0] for k in subset]) - fed.minimizer) + spread + weight * errors
    return total / len(subsets)


def allowed(weight, N, m, mu, L):
    """Return a total step h that is allowed: both hypotheses for h = 1/(a L) and h = m/(N mu)."""
    share = Q(N - m, m * (N - 1))
    return min(1 / ((2 + weight + 2 * share) * L), Q(m, N) / mu)


@pytest.mark.parametrize("seed", range(10))
def test_no_random_quadratics_exceed_the_bound_in_expectation_and_one_step_attains_its_part_of_the_noise(seed):
    rng = np.random.default_rng(seed)
    fed = draw_federation(rng, equal_weights=True)
    N, mu, L = fed.num_clients, fed.strong_convexity, fed.smoothness
    w, variates = draw_model(rng, fed.dim), [draw_model(rng, fed.dim) for _ in range(N)]
    noise = draw_model(rng, fed.dim)
    right = fed.gradients(fed.minimizer)
    errors = sum(norm2(c - h) for c, h in zip(variates, right, strict=True)) / N
    gap = sum(fed.losses(w) - fed.losses(fed.minimizer)) / N
    for m, tau in ((1, 1), (1, 2), (N - 1, 2), (N, 1)):
        omega = 4 * Q(N - m, m * (N - 1)) + 1
        h = allowed(omega, N, m, mu, L)
        known = {"step_size": h / tau, "local_steps": tau, "num_selected": m}
        constants = {"mu": mu, "L": L, "num_clients": N, "control_weight": omega, "variate_error2": errors}
        quiet, noisy = (
            (
                expected_potential(fed, w, variates, weight=omega * Q(N, m) * h**2, noise=v, **known) + h * gap,
                sampled_round(norm2(w - fed.minimizer), **constants, **known, sigma2=norm2(v)),
            )
            for v in (0 * noise, noise)
        )
        assert quiet[0] <= quiet[1]
        assert noisy[0] <= noisy[1]
        assert tau > 1 or noisy[0] - quiet[0] == noisy[1] - quiet[1]


def test_the_steps_of_the_paper_are_allowed_with_its_weight_and_so_are_six_times_longer_ones():
    for N, m, tau, kappa in product((2, 10, 1000), (1, 2), (1, 10), (1, 100)):
        printed = min(Q(1, 81), Q(m * kappa, 15 * N))
        for h in (printed, min(Q(1, 13), Q(m * kappa, N))):
            constants = {"mu": Q(1, kappa), "L": Q(1), "num_clients": N, "num_selected": m, "local_steps": tau}
            known = constants | {"step_size": h / tau, "control_weight": Q(9)}
            assert sampled_round(Q(1), variate_error2=Q(1), sigma2=Q(1), **known, strict=False)[1] == []


def test_with_the_weight_of_the_paper_no_step_beyond_3_over_20_contracts_for_all_mu():
    # All clients are L w^2/2 with control variates of 0, so that a model of 1 moves to 1 - h L, and C_+ = m/N L^2.
    def change(h):
        return (1 - h) ** 2 + 9 * h**2 + h / 2 - 1

    assert change(Q(3, 20)) == 0
    assert change(Q(3, 20) + Q(1, 10**9)) > 0


@pytest.mark.slow
def test_kappa_alone_is_too_little_noise_if_it_is_below_1():
    constants = {"mu": Q(1, 1000), "L": Q(1), "step_size": Q(14, 75), "control_weight": Q(2, 5), "sigma2": Q(100)}
    start = {"distance2": Q(1), "variate_error2": Q(1, 1000)}
    given = {**start, **constants, "local_steps": 3, "num_clients": 8, "num_selected": 8}
    kappa, noise = Q(1, 8) + Q(2, 5), 3 * Q(14, 75) ** 2 * 100
    lower, upper = compared(sampled_round, given).worst_case.enclosure
    assert sampled_round(**{**given, "sigma2": Q(0)}) + kappa * noise < lower <= upper <= sampled_round(**given)
