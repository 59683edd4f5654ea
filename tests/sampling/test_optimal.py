"""Optimal probabilities, against exact rational optima with certificates, over the whole range of floats."""

# mypy: allow-untyped-calls

import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.conformance import norms, norms_and_budgets
from fedtheory.sampling import approximate_probabilities, certificate, optimal_probabilities, rational_probabilities
from fedtheory.sampling.newton import compiled_write_optimal, write, write_optimal
from tests.environment import sized

# Sums in 16 lanes and one division: a few units in the last place for the sizes tested here.
ROUNDING = 64 * np.finfo(np.float64).eps
TINY = 1e-300  # below this a probability may lose digits or vanish

KINDS = ("integers", "zeros", "equal", "geometric", "whole range", "log-normal")


def norms_of(kind, n, rng):
    if kind == "integers":
        return rng.integers(0, 7, n).astype(float)
    if kind == "zeros":
        return rng.choice([0.0, 0.0, 1.0, 2.5], n)
    if kind == "equal":
        return np.full(n, 3.7)
    if kind == "geometric":
        return 10.0 ** (rng.integers(1, 7) * np.arange(n))
    if kind == "whole range":
        return 10.0 ** rng.uniform(-300, 300, n)
    return rng.lognormal(0, 2, n)


def budget_of(n, rng):
    return float(rng.choice([rng.integers(1, n + 1), n, rng.uniform(1e-3, n), rng.uniform(1e-3, 1)]))


def instances(num_instances, seed):
    rng = np.random.default_rng(seed)
    for k in range(num_instances):
        n = int(rng.integers(1, 10))
        yield norms_of(KINDS[k % len(KINDS)], n, rng), budget_of(n, rng)


def largest_relative_error(p, exact):
    compared = [(a, float(b)) for a, b in zip(p.tolist(), exact, strict=True) if b == 0 or b > TINY]
    return max((abs(a - b) / (b or 1) for a, b in compared), default=0.0)


def test_it_equals_the_exact_rational_optimum_which_a_certificate_proves_optimal() -> None:
    for t, m in instances(600, seed=1):
        exact = rational_probabilities(t, m)
        assert certificate([Fraction(x) for x in t], exact, Fraction(m)).residual == 0, (t, m)
        assert largest_relative_error(optimal_probabilities(t, m), exact) <= ROUNDING, (t, m)


@pytest.mark.parametrize(
    ("norms", "m", "expected"),
    [
        ([1, 2, 3], 1, ["1/6", "1/3", "1/2"]),
        ([1, 2, 3], 2, ["1/3", "2/3", "1"]),  # l = 3 with equality: client 3 reaches 1 through the formula
        ([1, 1, 4], 2, ["1/2", "1/2", "1"]),
        ([1, 1, 1, 1], 2.5, ["5/8"] * 4),
        ([0, 3, 5], 1, ["0", "3/8", "5/8"]),
        ([0, 3, 5], 2, ["0", "1", "1"]),
        ([1, 1, 1, 10], 2, ["1/3", "1/3", "1/3", "1"]),
        ([2, 2, 2], 3, ["1", "1", "1"]),
        ([0, 0], 1, ["0", "0"]),
    ],
)
def test_cases_done_by_hand(norms, m, expected) -> None:
    assert rational_probabilities(norms, m) == [Fraction(x) for x in expected]
    np.testing.assert_allclose(optimal_probabilities(norms, m), [float(Fraction(x)) for x in expected], rtol=ROUNDING)


def off_by_one(norms, m):
    """Closed form with the largest l read one too far, as found in public code: ``p_i = (m + l - n) t_i / s_l``."""
    t = np.sort(norms)
    n, s = t.size, np.cumsum(t)
    length = max(k for k in range(1, n + 1) if m + k - n > 0 and (m + k - n) * t[k - 1] <= s[k - 1])
    p = np.ones(n)
    p[: length + 1] = (m + length - n) * t[: length + 1] / s[length - 1]
    return p


def test_the_off_by_one_mutant_is_caught() -> None:
    t = np.array([1.0, 1.0, 1.0, 10.0])
    assert off_by_one(t, 2)[-1] == pytest.approx(10 / 3, rel=1e-12)
    assert certificate(t, off_by_one(t, 2), 2).residual > 1
    assert certificate(t, optimal_probabilities(t, 2), 2).residual <= ROUNDING


@settings(max_examples=200)
@given(norms(), st.floats(0.01, 0.9), st.floats(1, 1.1))
def test_probabilities_grow_with_the_budget_and_spend_it(t, share, factor) -> None:
    m = share * t.size
    p = optimal_probabilities(t, m)
    assert p.sum() == pytest.approx(min(m, np.count_nonzero(t)), rel=1e-12)
    assert (optimal_probabilities(t, m * factor) >= p * (1 - 1e-12)).all()


@settings(max_examples=200)
@given(norms_and_budgets(), st.integers(-900, 900))
def test_scaling_by_a_power_of_two_does_not_change_a_bit(drawn, exponent) -> None:
    # Scaling must be exact: no bits of a norm may fall below the smallest number.
    t, m = np.where(drawn[0] < 1e-20, 0.0, drawn[0]), drawn[1]
    scaled = np.ldexp(t, exponent)
    assert np.array_equal(optimal_probabilities(scaled, m), optimal_probabilities(t, m))


@pytest.mark.parametrize(
    ("norms", "m", "expected"),
    [
        ([1e-300, 1e300], 1, [0.0, 1.0]),
        ([1e-310, 1e-310, 1e308, 1e308], 3, [0.5, 0.5, 1.0, 1.0]),
        ([1e-320, 1e-320, 1e-150, 1e308], 3, [0.5, 0.5, 1.0, 1.0]),
        ([1e308] * 8, 2, [0.25] * 8),
        ([5e-324] * 3, 2, [2 / 3] * 3),
        ([1.0, 1.0, 1e-17], 2, [1.0, 1.0, 1e-17]),  # the third norm vanishes in the sum
        ([1.0, 3.0], 5e-324, [0.0, 5e-324]),
    ],
)
def test_norms_and_budgets_at_the_ends_of_the_range(norms, m, expected) -> None:
    np.testing.assert_allclose(optimal_probabilities(norms, m), expected, rtol=ROUNDING)


def test_over_600_decades_every_normal_probability_is_exact() -> None:
    # Budgets near the number of clients saturate level after level, down to norms that lose digits beside the largest.
    rng, smallest = np.random.default_rng(0), Fraction(float(np.finfo(np.float64).tiny))
    for _ in range(150):
        n = int(rng.integers(3, 40))
        t = 10.0 ** rng.uniform(-300, 300, n)
        t[:2], t[2] = rng.uniform(1, 50, 2) * 10.0 ** rng.uniform(-300, -285), 1e300
        m = n - 1 + float(rng.uniform(0.0, 0.2)) if rng.random() < 0.7 else float(rng.uniform(0.1, n))
        exact, found = (
            rational_probabilities([Fraction(x) for x in t.tolist()], Fraction(m)),
            optimal_probabilities(t, m),
        )
        for p, q in zip(found.tolist(), exact, strict=True):
            assert q < smallest or abs(Fraction(p) / q - 1) < Fraction(1, 10**14), (t.tolist(), m)


def test_scaling_does_not_change_a_bit_where_many_lie_far_below_a_few() -> None:
    # So many that one pass with a bracket serves, except where the sums leave the range and are scaled first.
    rng = np.random.default_rng(0)
    for spread in (1, 2, 3, 4):
        t = rng.lognormal(0, spread, 2**15 + 5) * 2.0**-950
        t[rng.permutation(t.size)[:50]] = 2.0 ** (960 + rng.uniform(0, 3, 50))
        m = 0.1 * t.size + 50.3
        assert np.array_equal(optimal_probabilities(np.ldexp(t, 60), m), optimal_probabilities(t, m))


def test_at_the_threshold_a_probability_is_exactly_1_and_just_below_never_more() -> None:
    rng, p = np.random.default_rng(8), np.empty(2)
    for rest, room in zip(rng.lognormal(0, 3, 2000), rng.uniform(1e-3, 50, 2000), strict=True):
        x = rest / room
        write(np.array([x, np.nextafter(x, 0)]), rest, room, p)
        assert p[0] == 1.0
        assert 1.0 - 4 * np.finfo(float).eps < p[1] <= 1.0


def test_nothing_but_the_answer_is_allocated() -> None:
    t = np.random.default_rng(6).lognormal(0, 1, sized(200_000, 50_000))
    optimal_probabilities(t, 0.1 * t.size)
    tracemalloc.start()
    optimal_probabilities(t, 0.1 * t.size)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.05 * t.nbytes


def test_the_caller_keeps_the_norms_and_they_may_be_read_only_or_strided() -> None:
    t = np.array([1.0, 9.0, 2.0, 9.0, 3.0])[::2]
    t.setflags(write=False)
    expected = optimal_probabilities(t.copy(), 1)
    assert np.array_equal(optimal_probabilities(t, 1), expected)
    frozen = t.copy()
    frozen.setflags(write=False)
    assert np.array_equal(optimal_probabilities(frozen, 1), expected)
    assert t.tolist() == [1, 2, 3]


@pytest.mark.parametrize("program", [optimal_probabilities, approximate_probabilities])
@pytest.mark.parametrize("size", [4, 100, 2**15 + 5])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, -1.0, -5e-324])
def test_one_bad_norm_is_found_wherever_it_stands_and_whatever_the_budget(program, size, bad) -> None:
    for place in (0, size // 2, size - 1):
        t = np.ones(size)
        t[place] = bad
        for m in (0.5, 2.0, size - 1.0, float(size)):
            with pytest.raises(ValueError, match=f"norms must be .* at index {place}"):
                program(t, m)


@pytest.mark.parametrize(("norms", "budget"), [([3.0, 1.0, 0.0], 2.5), ([0.0, 2.0], 1.5), ([5.0, 1.0, 1.0, 0.0], 3.0)])
@pytest.mark.parametrize("scale", [2.0**1021, 2.0**-1070])
def test_zero_norms_beyond_the_budget_end_the_search_at_every_scale(
    norms: list[float], budget: float, scale: float
) -> None:
    expected = optimal_probabilities(norms, budget)
    assert (expected == np.sign(norms)).all()
    assert optimal_probabilities(np.array(norms) * scale, budget).tolist() == expected.tolist()


@pytest.mark.parametrize("expected_size", [0.3, 1.0, 2.7, 5.0])
def test_plain_python_has_the_bits_of_compiled_code(expected_size):
    rng = np.random.default_rng(3)
    for scale in (1e-320, 1e-200, 1.0, 1e300):
        norms = scale * rng.lognormal(sigma=2.0, size=7) * (rng.random(7) < 0.8)
        compiled, plain = np.empty(7), np.empty(7)
        with np.errstate(all="ignore"):
            accepted = write_optimal(norms, expected_size, plain)
        assert accepted == compiled_write_optimal(norms, expected_size, compiled)
        assert plain.tobytes() == compiled.tobytes()
