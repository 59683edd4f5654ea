"""The threshold of many norms, bracketed by a sample, against sorting; also for misleading samples."""

# mypy: allow-untyped-calls

import numpy as np
import pytest

from fedtheory.sampling import optimal_probabilities
from fedtheory.sampling.newton import NO_LIMIT, start
from fedtheory.sampling.optimal import narrowed

MANY = 2**15  # from here on the threshold is bracketed first
SAMPLED = 16  # the first 16 of every 512 norms are the sample


def by_sort(t, m):
    ordered = np.sort(t)
    sums, room = np.cumsum(ordered), m - t.size + np.arange(1, t.size + 1)
    last = np.flatnonzero((room > 0) & (room * ordered <= sums))[-1]
    return np.minimum(1.0, room[last] / sums[last] * t)


def is_sampled(n):
    return np.arange(n) % (32 * SAMPLED) < SAMPLED


def misleading(n, rng):
    t = rng.lognormal(0, 1, n)
    return np.where(is_sampled(n), t * 1e-3, t), np.where(is_sampled(n), t * 1e3, t)


NORMS = {
    "log-normal": lambda n, rng: rng.lognormal(0, 1, n),
    "heavy tail": lambda n, rng: rng.pareto(1.1, n),
    "sorted": lambda n, rng: np.sort(rng.lognormal(0, 1, n)),
    "many zeros": lambda n, rng: rng.lognormal(0, 1, n) * (rng.random(n) < 0.4),
    "all equal": lambda n, rng: np.full(n, 3.7),
    "ties at every threshold": lambda n, rng: rng.integers(0, 5, n).astype(float),
    "sample too small": lambda n, rng: misleading(n, rng)[0],
    "sample too large": lambda n, rng: misleading(n, rng)[1],
    "sample all zero": lambda n, rng: np.where(is_sampled(n), 0.0, rng.lognormal(0, 1, n)),
    "nothing but the sample": lambda n, rng: np.where(is_sampled(n), rng.lognormal(0, 1, n), 0.0),
}


@pytest.mark.parametrize("kind", NORMS)
@pytest.mark.parametrize("n", [97, 128, 129, MANY, MANY + 77])
def test_few_and_many_norms_agree_with_a_sort_in_numpy_even_if_the_sample_misleads(kind, n) -> None:
    t = NORMS[kind](n, np.random.default_rng(n))
    for m in (0.5, 30.0, 0.01 * n, 0.1 * n, 0.3 * n + 0.5, 0.9 * n, float(n)):
        p = optimal_probabilities(t, m)
        if np.count_nonzero(t) <= m:
            assert np.array_equal(p, t > 0)
        else:
            np.testing.assert_allclose(p, by_sort(t, m), rtol=n * np.finfo(float).eps, err_msg=f"m = {m}")


def test_usual_norms_are_solved_inside_the_bracket_and_misleading_samples_are_not_trusted() -> None:
    rng, scratch = np.random.default_rng(1), np.empty(10 * MANY)
    t = rng.lognormal(0, 1, scratch.size)
    m = 0.1 * t.size
    rest, room, _ = start(t, m, NO_LIMIT, np.empty(t.size))
    found = narrowed(t, m, scratch)
    assert found[1] == room
    assert found[0] == pytest.approx(rest, rel=1e-13)  # the same norms, summed in another order
    for wrong in misleading(t.size, rng):
        assert narrowed(wrong, m, scratch) == (0.0, 1.0)
    assert narrowed(t[: MANY - 1], 100.0, scratch) == (0.0, 1.0)


@pytest.mark.parametrize("m", [5e-324, 1e-310, 1e-300, 1e-3])
def test_the_smallest_budgets_are_shared_in_proportion_among_many(m) -> None:
    np.testing.assert_allclose(optimal_probabilities(np.ones(MANY), m), m / MANY, rtol=1e-15)


@pytest.mark.parametrize("exponent", [-1000, -500, 500, 900, 1000, 1018])
def test_scaling_many_norms_by_a_power_of_two_does_not_change_a_bit(exponent) -> None:
    t = 1.0 + np.random.default_rng(2).pareto(2, MANY + 5).clip(max=30.0)
    for m in (3.0, 0.1 * t.size, 0.5 * t.size):
        assert np.array_equal(optimal_probabilities(np.ldexp(t, exponent), m), optimal_probabilities(t, m))
