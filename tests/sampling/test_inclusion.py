"""Inclusion probabilities of Power-of-Choice, against enumeration, rational fixtures, draws and mutants."""

from fractions import Fraction
from itertools import permutations
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.sampling.cohorts import cohort_law, frequencies, power_of_choice
from fedtheory.sampling.inclusion import power_of_choice_inclusion
from tests.environment import takes_minutes_as_plain_python

TOLERANCE = 1e-13  # of the quadrature, absolute and relative


def from_all_sequences(weights, losses, m, d):
    """Inclusion probabilities from the probabilities of all ordered draws: the definition, in exact arithmetic."""
    p = [Fraction(weight) for weight in weights]
    inclusion = [Fraction(0)] * len(p)
    for draws in permutations([k for k in range(len(p)) if p[k] > 0], d):
        left = [sum(p) - sum(p[k] for k in draws[:i]) for i in range(d)]
        probability = prod((p[k] / rest for k, rest in zip(draws, left, strict=True)), start=Fraction(1))
        for k in draws:
            above = sum(1 for j in draws if losses[j] > losses[k])
            equal = sum(1 for j in draws if losses[j] == losses[k])
            inclusion[k] += probability * min(Fraction(1), max(Fraction(0), Fraction(m - above, equal)))
    return inclusion


def from_cohort_law(weights, losses, m, d):
    inclusion = [Fraction(0)] * len(weights)
    for cohort, probability in cohort_law([Fraction(float(w)) for w in weights], losses, m, d).items():
        for k in cohort:
            inclusion[k] += probability
    return inclusion


def worst_errors(computed, exact):
    absolute = max(abs(float(truth - Fraction(float(x)))) for x, truth in zip(computed, exact, strict=True))
    relative = max(
        abs(float((truth - Fraction(float(x))) / truth)) if truth else float(x != 0)
        for x, truth in zip(computed, exact, strict=True)
    )
    return absolute, relative


FIXTURES = [
    ([1, 2, 3], 2, 1, [3, 2, 1], "5/12 7/12 0"),
    ([1, 2, 3], 2, 1, [1, 1, 1], "5/24 11/30 17/40"),
    ([1, 2, 3, 4, 5], 3, 2, [5, 4, 3, 2, 1], "48343/180180 971/1980 76771/120120 24111/40040 0"),
    ([1, 2, 3, 4, 5], 2, 2, [2, 7, 1, 8, 2], "1297/8580 673/2310 2091/5005 719/1365 7363/12012"),
    ([1, 2, 3, 4, 5], 5, 2, [1, 2, 2, 2, 1], "0 2/3 2/3 2/3 0"),
    ([1, 1, 1, 1, 96], 2, 1, [5, 4, 3, 2, 1], "413/1650 619/2475 1237/4950 206/825 0"),
]


@pytest.mark.parametrize(("weights", "d", "m", "losses", "expected"), FIXTURES)
def test_rational_fixtures_are_met_by_the_enumeration_exactly_and_by_the_quadrature_to_1e_13(
    weights, d, m, losses, expected
):
    exact = [Fraction(number) for number in expected.split()]
    assert from_all_sequences(weights, losses, m, d) == exact
    assert from_cohort_law(weights, losses, m, d) == exact
    assert frequencies(power_of_choice(weights, losses, m, d), len(weights)) == tuple(exact)
    assert max(worst_errors(power_of_choice_inclusion(weights, losses, m, d), exact)) <= TOLERANCE


def instances(num_clients):
    rng = np.random.default_rng(num_clients)
    yield rng.random(num_clients), rng.random(num_clients)
    yield rng.random(num_clients), rng.integers(0, 2, num_clients)
    yield 10.0 ** (-8 * rng.random(num_clients)), rng.integers(0, 3, num_clients)
    yield np.array([1.0] + [1e-8] * (num_clients - 1)), rng.random(num_clients)
    yield 10.0 ** (-8 * rng.random(num_clients)), np.zeros(num_clients)


@pytest.mark.parametrize(
    "num_clients",
    [pytest.param(n, marks=[pytest.mark.slow] * (n != 4) + [pytest.mark.long] * (n > 7)) for n in range(1, 9)],
)
def test_every_d_and_m_agrees_with_enumeration_absolutely_and_relatively_with_ties_and_weights_over_8_decades(
    num_clients,
):
    for p, losses in instances(num_clients):
        for d in range(1, num_clients + 1):
            for m in range(1, d + 1):
                exact = from_cohort_law(p, losses, m, d)
                assert max(worst_errors(power_of_choice_inclusion(p, losses, m, d), exact)) <= TOLERANCE


@pytest.mark.parametrize(
    ("num_clients", "d", "m"),
    [(30, 9, 3), (100, 50, 10), (100, 99, 10), pytest.param(300, 150, 30, marks=takes_minutes_as_plain_python)],
)
def test_equal_weights_give_the_hypergeometric_law(num_clients, d, m):
    from scipy.stats import hypergeom

    inclusion = power_of_choice_inclusion(np.ones(num_clients), -np.arange(float(num_clients)), m, d)
    # Client r is a candidate with probability d/K; then its r betters hold a hypergeometric number of the others.
    ranks = np.arange(num_clients)
    exact = d / num_clients * hypergeom.cdf(m - 1, num_clients - 1, ranks, d - 1)
    np.testing.assert_allclose(inclusion, exact, rtol=1e-11, atol=1e-15)  # hypergeom.cdf itself is only that accurate


@pytest.mark.parametrize(
    ("num_clients", "d", "m"),
    [(30, 9, 3), (100, 50, 10), pytest.param(2000, 50, 10, marks=takes_minutes_as_plain_python)],
)
def test_large_instances_keep_their_sum_and_their_tied_limit(num_clients, d, m):
    rng = np.random.default_rng(5)
    p = 10.0 ** (-8 * rng.random(num_clients))
    assert abs(power_of_choice_inclusion(p, rng.random(num_clients), m, d).sum() - m) <= 1e-12 * m
    tied = power_of_choice_inclusion(p[:100], np.zeros(100)[: p[:100].size], m, d)
    np.testing.assert_allclose(
        tied, m / d * power_of_choice_inclusion(p[:100], np.zeros(100)[: p[:100].size], d, d), rtol=1e-13
    )


def test_literal_draws_have_the_computed_frequencies():
    num_clients, d, m, num_draws = 30, 9, 3, 100_000
    rng = np.random.default_rng(7)
    p, losses = rng.random(num_clients) ** (1 / 3), rng.random(num_clients)
    # Adding Gumbel noise to log p and keeping the d largest is sampling without replacement proportional to p.
    noisy = np.log(p) + rng.gumbel(size=(num_draws, num_clients))
    candidates = np.argsort(-noisy, axis=1)[:, :d]
    ranked = np.take_along_axis(candidates, np.argsort(-losses[candidates], axis=1)[:, :m], axis=1)
    inclusion = power_of_choice_inclusion(p, losses, m, d)
    deviation = np.sqrt(inclusion * (1 - inclusion) / num_draws)
    frequencies = np.bincount(ranked.ravel(), minlength=num_clients) / num_draws
    assert np.abs((frequencies - inclusion) / np.maximum(deviation, 1 / num_draws)).max() < 4.5


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_the_law_does_not_depend_on_scale_names_or_clients_of_weight_zero(data):
    num_clients = data.draw(st.integers(2, 12))
    p = np.array(data.draw(st.lists(st.floats(1e-6, 1), min_size=num_clients, max_size=num_clients)))
    losses = np.array(data.draw(st.lists(st.integers(0, 3), min_size=num_clients, max_size=num_clients)))
    d = data.draw(st.integers(1, num_clients))
    m = data.draw(st.integers(1, d))
    inclusion = power_of_choice_inclusion(p, losses, m, d)
    shuffled = np.random.default_rng(num_clients).permutation(num_clients)
    renamed = power_of_choice_inclusion(1000 * p[shuffled], 2.0 * losses[shuffled], m, d)
    np.testing.assert_allclose(renamed, inclusion[shuffled], rtol=1e-12)
    padded = power_of_choice_inclusion(np.append(p, 0.0), np.append(losses, 9), m, d)
    np.testing.assert_allclose(padded, np.append(inclusion, 0.0), rtol=1e-12)
