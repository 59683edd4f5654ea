"""The approximate probabilities, against their algorithm step by step and the optimum."""

# mypy: allow-untyped-calls

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fedtheory.sampling import approximate_probabilities, approximation_path, rational_probabilities, variance
from fedtheory.sampling.approximate import approximation

SMALLEST = float(np.finfo(np.float64).tiny)
# As far as sums in lanes of twenty norms and three more roundings go.
ROUNDING = 32 * np.finfo(np.float64).eps


def rational_instances(num_instances, seed):
    rng = np.random.default_rng(seed)
    for _ in range(num_instances):
        n = int(rng.integers(1, 10))
        spread = int(rng.choice([2, 7, 1000]))
        t = [Fraction(int(rng.integers(0, spread))) ** int(rng.integers(1, 4)) for _ in range(n)]
        yield t, Fraction(int(rng.integers(1, 8 * n + 1)), 8)


def enough_rescalings(t, m):
    num_positive = sum(value > 0 for value in t)
    return math.ceil(m) - 1 if num_positive > m else max(num_positive - 1, 0)


@pytest.mark.slow
def test_the_probabilities_increase_to_the_optimum_within_the_budget() -> None:
    for t, m in rational_instances(1500, seed=1):
        best = rational_probabilities(t, m)
        path = approximation_path(t, m, enough_rescalings(t, m))
        assert list(path[-1]) == best, (t, m)
        for p, following in pairwise(path):
            assert sum(p) <= m
            assert all(p <= following)
            assert variance(t, p) >= variance(t, following)


@pytest.mark.parametrize("m", range(2, 9))
def test_the_number_of_rescalings_is_attained(m) -> None:
    t = [Fraction(10) ** (6 * i) for i in range(m + 2)]
    path = approximation_path(t, m, m - 1)
    assert list(path[-1]) == rational_probabilities(t, m)
    assert list(path[-2]) != rational_probabilities(t, m)
    assert approximation([float(x) for x in t], m, max_iterations=20)[1:] == (m - 1, True)


@pytest.mark.parametrize("exponent", [-1060, -900, 0, 900, 1000])
def test_norms_at_the_ends_of_the_range(exponent) -> None:
    t = np.array([1.0, 3.0, 9.0, 100.0, 5000.0])
    for limit in (1, 2, 3):
        expected = approximation(t, 4, limit)
        found = approximation(np.ldexp(t, exponent), 4, limit)
        assert np.array_equal(found.probabilities, expected.probabilities)
        assert found[1:] == expected[1:]


@pytest.mark.parametrize("exponents", [(-1070, -1000, 0, 1000), (-1074, -30, 1010, 1020)])
@pytest.mark.parametrize("m", [2, 3, 3.5])
def test_no_rescaling_beyond_the_limit_is_made_of_norms_far_apart(exponents, m) -> None:
    norms = [2.0**exponent for exponent in exponents]
    path = approximation_path([Fraction(norm) for norm in norms], Fraction(m), 4)
    for limit in (1, 2, 3):
        # Norms so small beside others that a probability is below 1e-308 count as 0.
        exact = np.array([float(p) for p in path[limit]])
        np.testing.assert_allclose(approximate_probabilities(norms, m, limit), exact, rtol=1e-14, atol=SMALLEST)


@st.composite
def kinks(draw):
    """Norms of a few sizes, over all decades or near to each other, where one may sit on a threshold, and a budget."""
    size = st.floats(0.01, 100) | st.integers(1, 30).map(lambda i: i / 10)
    spread = draw(st.sampled_from([0, 0, 3, 400]))
    sizes = [draw(size) * 2.0 ** draw(st.integers(-spread, spread)) for _ in range(draw(st.integers(1, 4)))]
    t = [draw(st.sampled_from(sizes)) for _ in range(draw(st.integers(1, 11)))]
    m = draw(st.integers(1, len(t) + 1).map(float) | st.floats(0.1, len(t)))
    if m > 1 and draw(st.booleans()):
        # With it the mean threshold sum / m is this norm, up to rounding; or the next threshold, beside some at 1.
        t.append(sum(sorted(t)[: draw(st.integers(1, len(t)))]) / (m - 1))
    return np.array(t), min(m, float(len(t)))


def exactly(t, m, limit):
    """Algorithm 2 in rational arithmetic: probabilities, how many rescalings changed something, whether it is over."""
    path = approximation_path([Fraction(x) for x in t.tolist()], Fraction(m), len(t) + 1)
    needed = next(j for j, (p, following) in enumerate(pairwise(path)) if list(p) == list(following))
    return path[min(needed, limit)], min(needed, limit), needed <= limit


@settings(max_examples=60, deadline=None)
@given(kinks(), st.integers(1, 4))
@example((np.array([0.9, 0.8, 0.7, 2.0, 0.2, 1.4, 2.4, 0.7, 2.9]), 8.0), 4)
@example((np.array([2.0**-1000, 1.5 * 2.0**-1000, 2.0**100, 2.0**100]), 3.0), 1)
@example((np.array([2.0**-1074, 2.0**-500, 2.0**500, 2.0**1020]), 3.5), 2)
@example((np.full(10, 0.8762491038964166), 10.0), 1)
def test_who_is_at_1_is_decided_exactly(drawn, limit) -> None:
    t, m = drawn
    probabilities, num_rescalings, over = exactly(t, m, limit)
    found = approximation(t, m, limit)
    assert found[1:] == (num_rescalings, over)
    for p, q in zip(found.probabilities.tolist(), probabilities, strict=True):
        assert abs(Fraction(p) - q) <= max(Fraction(ROUNDING) * q, Fraction(SMALLEST))
        assert p == 1 or q < 1


def test_nothing_left_to_rescale_is_no_division_by_zero() -> None:
    assert approximate_probabilities([0.0, 0.0], 1).tolist() == [0, 0]
    assert approximate_probabilities([0.0, 5.0, 0.0], 2).tolist() == [0, 1, 0]
    found = approximation([0.0, 2.0**-1000], 2)
    assert (found.probabilities.tolist(), *found[1:]) == ([0, 1], 0, True)
    assert [list(p) for p in approximation_path([Fraction(0), Fraction(5)], 2, 2)] == [[0, 1]] * 3
    assert approximate_probabilities([1.0, 2.0], 2).tolist() == [1, 1]


def test_without_any_rescaling_it_can_be_worse_than_uniform_sampling() -> None:
    t = [Fraction(1)] * 6 + [Fraction(199, 100)] * 2
    start = approximation_path(t, 7, 0)[0]
    uniform = [Fraction(7, 8)] * 8
    # Sum 9.98: the six clients at 7/9.98 leave 2.98/7 each, the two others are cut; uniform leaves 1/7 of 6 + 2 1.99^2.
    assert variance(t, start) / variance(t, uniform) == 6 * Fraction(298, 700) / ((6 + 2 * Fraction(199, 100) ** 2) / 7)
    assert round(float(variance(t, start) / variance(t, uniform)), 4) == 1.2845
