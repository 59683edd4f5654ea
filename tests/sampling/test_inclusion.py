"""Inclusion probabilities of Power-of-Choice, against enumeration, rational fixtures, draws and mutants."""

import inspect
import re
from fractions import Fraction
from functools import partial
from itertools import permutations
from math import prod
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fedtheory.sampling.inclusion as kernels
import fedtheory.sampling.inclusion as module
from fedtheory.sampling.cohorts import cohort_law, successive
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


def by_kernels(weights, losses, m, d, source=kernels):
    """What compiled kernels compute, which the public function calls for more than ten clients."""
    return source.inclusion_by_losses(weights, m, d)(np.asarray(losses, dtype=float))


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
    for computed in (power_of_choice_inclusion, by_kernels):
        assert max(worst_errors(computed(weights, losses, m, d), exact)) <= TOLERANCE


def instances(num_clients):
    rng = np.random.default_rng(num_clients)
    yield rng.random(num_clients), rng.random(num_clients)
    yield rng.random(num_clients), rng.integers(0, 2, num_clients)
    yield 10.0 ** (-8 * rng.random(num_clients)), rng.integers(0, 3, num_clients)
    yield np.array([1.0] + [1e-8] * (num_clients - 1)), rng.random(num_clients)
    yield 10.0 ** (-8 * rng.random(num_clients)), np.zeros(num_clients)


def mismatches(num_clients, computed):
    """The worse of both errors for each instance, d and m for one number of clients."""
    return (
        max(worst_errors(computed(p, losses, m, d), from_cohort_law(p, losses, m, d)))
        for p, losses in instances(num_clients)
        for d in range(1, num_clients + 1)
        for m in range(1, d + 1)
    )


@pytest.mark.slow
@pytest.mark.parametrize("computed", [power_of_choice_inclusion, by_kernels], ids=["NumPy", "kernels"])
@pytest.mark.parametrize("num_clients", range(1, 9))
def test_every_d_and_m_agrees_with_enumeration_absolutely_and_relatively_with_ties_and_weights_over_8_decades(
    num_clients, computed
):
    assert max(mismatches(num_clients, computed)) <= TOLERANCE


@pytest.mark.parametrize("num_clients", [10, 11])
def test_numpy_and_kernels_agree_on_both_sides_of_the_number_of_clients_where_they_change(num_clients):
    rng = np.random.default_rng(num_clients)
    for losses in (rng.random(num_clients), rng.integers(0, 3, num_clients).astype(float)):
        weights = 10.0 ** (-8 * rng.random(num_clients))
        public, kernel = (road(weights, losses, 3, 6) for road in (power_of_choice_inclusion, by_kernels))
        np.testing.assert_allclose(public, kernel, rtol=TOLERANCE)


def variant(*replacements):
    """Copy of the module and its kernels with pieces replaced and the compiler off: a mutant to be caught."""
    source = "\n".join(re.sub(r"@compiled\w*\n", "", inspect.getsource(part)) for part in (module, kernels))
    source = source.replace("from __future__ import annotations\n", "")
    for right, wrong in replacements:
        assert right in source
        source = source.replace(right, wrong)
    namespace: dict[str, Any] = {}
    exec(compile(source, "mutant", "exec"), namespace)
    return SimpleNamespace(**namespace)


MUTANTS = {
    "no change": (),
    "one place too few in the sum over those above": (("min(m, d - g, first + 1)", "min(m - 1, d - g, first + 1)"),),
    "one place too many": (("(m - low - i) /", "(m + 1 - low - i) /"),),
    "ties favor the member": (("(g + 1.0)", "(g + 0.5)"),),
    "ranked upside down": (("np.argsort(-losses", "np.argsort(losses"),),
    "the rate of those above is forgotten": (("+ above_rate[i] * below_probability[i])", ")"),),
    "the waiting rate of a client is forgotten": (("(waiting_rate[c] + probability[c] * rate)", "waiting_rate[c]"),),
    "a coarse grid": (("min(0.18,", "min(0.7,"), ("0.65 /", "6.5 /")),
    "a short grid": (("+ 45.0) /", "+ 0.0) /"), ("+ 0.5\n", "- 0.5\n")),
    "times that matter are skipped": (("< -737.0", "< -7.0"),),
    "the fewest arrivals above are one too many": (("max(0, d - 1 - g - (", "max(0, d - g - ("),),
    "the most arrivals above are one too few": (("min(m, d - g, first + 1)", "min(m, d - g, first)"),),
    "the fewest arrivals below are one too many": (("waiting[k], below, max(0, d - 1", "waiting[k], below, max(0, d"),),
    "the most arrivals below are one too few": (("+ k), min(d, k))", "+ k), min(d, k - 1))"),),
    "the law of those above starts too late": (("- num_clients + k), min(m", "- num_clients + k + 1), min(m"),),
    "blocks meet in the wrong place": (("every[group // _BLOCK]", "every[0]"), ("_BLOCK = 16", "_BLOCK = 2")),
    "equals before a member are forgotten": (("min(counts, i + 2)", "min(counts, i + 1)"),),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_the_comparison_with_enumeration_catches_every_mutant_of_the_kernel_and_passes_the_twin(name):
    computed = partial(by_kernels, source=variant(*MUTANTS[name]))
    assert all(error <= TOLERANCE for error in mismatches(4, computed)) == (name == "no change")


NUMPY_MUTANTS = {
    "no change": (),
    "one place too many": (("(m - a) /", "(m + 1 - a) /"),),
    "ties favor the member": (("/ (g + 1))", "/ (g + 0.5))"),),
    "the rate of those above is forgotten": (("x[1] * y[0] * z[0] + x", "x"),),
    "the rate of equals is forgotten": (("+ x[0] * y[1] * z[0]", ""),),
    "the rate of those below is forgotten": (("+ x[0] * y[0] * z[1]", ""),),
    "a client waits for free": (("found[1] + p[k] * found[0]]", "found[1]]"),),
    "one arrival below is left out": (("min(d, p.size - end + 1)", "max(1, min(d, p.size - end))"),),
    "one arrival above is left out": (("min(m, first + 1)), law", "min(m, first) or 1), law"),),
}  # fmt: skip


@pytest.mark.parametrize("name", NUMPY_MUTANTS)
def test_the_comparison_with_enumeration_catches_every_mutant_of_the_computation_with_numpy(name):
    computed = variant(*NUMPY_MUTANTS[name]).power_of_choice_inclusion
    assert all(error <= TOLERANCE for error in mismatches(4, computed)) == (name == "no change")


def test_a_step_that_ignores_the_number_of_candidates_would_miss_at_fifty_of_a_hundred(monkeypatch):
    p, losses = np.full(100, 0.01), np.arange(100.0)
    fine = power_of_choice_inclusion(p, losses, 10, 50)

    def fixed_step(p, d):
        z = np.arange(-4.2, np.log(60 / 0.5) + 1, 0.2)
        return np.exp(z - np.exp(-z)), 0.2 * np.exp(z - np.exp(-z)) * (1 + np.exp(-z))

    # With equal weights the candidates are a uniform set, so client 99, on top, is selected with probability d / K.
    assert abs(fine[99] - 0.5) <= TOLERANCE
    monkeypatch.setattr(module, "_arrival_nodes", fixed_step)
    assert abs(power_of_choice_inclusion(p, losses, 10, 50)[99] - 0.5) > 1e-6


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


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 9), st.integers(0, 10_000))
def test_the_ranking_by_a_vector_maximizes_its_product_over_all_rankings_and_the_opposite_ranking_minimizes_it(
    num_clients, seed
):
    rng = np.random.default_rng(seed)
    p, values = rng.random(num_clients), rng.random(num_clients)
    d = int(rng.integers(1, num_clients + 1))
    m = int(rng.integers(1, d + 1))
    other = power_of_choice_inclusion(p, rng.random(num_clients), m, d) @ values
    assert power_of_choice_inclusion(p, -values, m, d) @ values - 1e-12 <= other
    assert other <= power_of_choice_inclusion(p, values, m, d) @ values + 1e-12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5, 0.5, 0.0], [1, 2, 3], 1, 3), "at most the number of clients with positive weight, 2, got 3"),
        (([0.5, 0.5], [1, 2], 3, 2), "num_selected must be in 1..2, got 3"),
        (([0.5, 0.5], [1, np.nan], 1, 2), "losses must be finite, got nan at index 1"),
        (([0.5, 0.5], [1, 2, 3], 1, 2), r"losses must have shape \(2,\), got \(3,\)"),
        (([0.5, -0.5], [1, 2], 1, 2), "weights must be at least 0, got -0.5 at index 1"),
        (([0.0, 0.0], [1, 2], 1, 1), "weights must have a positive entry, got all zeros"),
    ],
)  # fmt: skip
def test_bad_inputs_are_refused_in_one_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        power_of_choice_inclusion(*arguments)


def test_the_inputs_are_left_alone():
    p, losses = np.array([1.0, 2.0, 3.0]), np.array([3.0, 1.0, 1.0])
    power_of_choice_inclusion(p, losses, 1, 2)
    assert (p == [1, 2, 3]).all()
    assert (losses == [3, 1, 1]).all()


def test_where_all_candidates_are_selected_inclusion_sums_the_law_of_successive_draws():
    weights = [1, 2, 3, 4, 5]
    law = successive([Fraction(weight) for weight in weights], 3)
    exact = [sum(probability for drawn, probability in law.items() if k in drawn) for k in range(5)]
    assert max(worst_errors(power_of_choice_inclusion(weights, weights, 3, 3), exact)) <= TOLERANCE
