"""The certificate bounds the distance from the optimum, and names violated conditions."""

# mypy: allow-untyped-calls

from fractions import Fraction

import numpy as np
import pytest

from fedtheory.sampling import certificate, optimal_probabilities, rational_probabilities, variance


def draw(rng):
    n = int(rng.integers(2, 8))
    t = [Fraction(int(x)) for x in rng.integers(0, 6, n)]
    return t, Fraction(int(rng.integers(1, 4 * n + 1)), 4)


def objective(t, p):
    return sum(x * x / q for x, q in zip(t, p, strict=True) if x)


def test_the_gap_is_a_rigorous_bound_for_every_feasible_point() -> None:
    rng = np.random.default_rng(1)
    for _ in range(150):
        t, m = draw(rng)
        p = [Fraction(int(x), 64) for x in rng.integers(1, 65, len(t))]
        excess = sum(p) - m
        if excess > 0:
            p = [q * m / sum(p) for q in p]
        if not any(t):
            continue
        found = certificate(t, p, m)
        assert found.infeasibility == 0
        optimum = objective(t, rational_probabilities(t, m))
        assert (objective(t, p) - optimum) / objective(t, p) <= found.relative_gap


def test_the_gap_is_that_to_the_dual_value_of_the_threshold() -> None:
    # min_{0 < p <= 1} t^2/p + x^2 p is 2 t x for t <= x, else t^2 + x^2; the budget m costs x^2 m.
    rng = np.random.default_rng(4)
    capped = 0
    for _ in range(200):
        t, m = draw(rng)
        p = [Fraction(int(x), 8) for x in rng.integers(1, 9, len(t))]
        if not any(t):
            continue
        found = certificate(t, p, m)
        x = found.threshold
        dual = sum(2 * s * x if s < x else s * s + x * x for s in t if s) - x * x * m
        assert found.relative_gap == 1 - dual / objective(t, p)
        capped += any(s > x > 0 and q < 1 for s, q in zip(t, p, strict=True))
    assert capped > 20


def test_where_nobody_is_below_one_everybody_should_be_one_and_the_worst_of_them_is_told() -> None:
    found = certificate([Fraction(1), 3, 0, 2], [Fraction(1), Fraction(3, 2), Fraction(1), Fraction(5, 4)], 4)
    # The budget costs nothing there, so that the gap is that of the objective, which is 1 + 6 + 16/5 against 14.
    assert found == (0, Fraction(1, 2), Fraction(3, 4), 0, Fraction(1, 2), 1 - Fraction(14 * 5, 51))


def test_only_optima_have_residual_zero() -> None:
    rng = np.random.default_rng(2)
    seen = 0
    for _ in range(150):
        t, m = draw(rng)
        p = rational_probabilities(t, m)
        assert certificate(t, p, m).residual == 0
        moved = list(p)
        inner = [i for i, q in enumerate(p) if 0 < q < 1]
        if len(inner) >= 2:
            step = min(p[inner[0]], 1 - p[inner[1]]) / 7
            moved[inner[0]] -= step
            moved[inner[1]] += step
            found = certificate(t, moved, m)
            assert min(found.stationarity, found.relative_gap) > 0
            assert found.infeasibility == 0
            seen += 1
    assert seen > 25


@pytest.mark.parametrize(
    ("norms", "p", "m", "which"),
    [
        ([1, 1, 1, 10], [0.3, 0.3, 0.3, 10 / 3], 2, "box"),
        ([1, 1], [1, 1], 1, "budget"),
        ([1, 1, 1], [0.5, 0.5, 0.5], 2, "unused"),
        ([1, 3], [0.5, 0.5], 1, "stationarity"),
        ([1, 3], [0.5, 0.5], 1, "relative_gap"),
    ],
)
def test_each_violation_shows_in_its_residual(norms, p, m, which) -> None:
    found = certificate(norms, p, m)
    assert found.residual >= getattr(found, which) > 0.1
    assert (found.infeasibility > 0.1) == (which in {"box", "budget"})


def test_in_floating_point_the_closed_form_passes_to_rounding() -> None:
    rng = np.random.default_rng(3)
    for n in (1, 2, 30, 3000):
        t = rng.lognormal(0, 2, n)
        assert certificate(t, optimal_probabilities(t, 0.3 * n), 0.3 * n).residual < 1e-12
    t = 10.0 ** rng.uniform(-300, 300, 20)
    assert certificate(t, optimal_probabilities(t, 5), 5).residual < 1e-12


def test_no_clients_with_updates_is_optimal_whatever_the_probabilities() -> None:
    assert certificate([0.0, 0.0], [0.3, 0.2], 1).residual == 0
    assert certificate([0.0, 2.0], [0.0, 1.0], 1).residual == 0


def test_a_client_that_is_never_sampled_is_infinitely_far_from_optimal() -> None:
    assert certificate([1.0, 2.0, 3.0], [0.0, 0.5, 0.5], 1).relative_gap == np.inf
    assert variance([1.0, 2.0, 3.0], [0.0, 0.5, 0.5]) == np.inf
