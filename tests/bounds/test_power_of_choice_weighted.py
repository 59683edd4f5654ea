"""Appendix E of Power-of-Choice: eq. (85) is false as printed, and its corrections hold."""

# mypy: allow-untyped-calls

from fractions import Fraction as Q
from typing import Any

import pytest

from fedtheory.bounds import power_of_choice as poc
from fedtheory.errors import AssumptionViolated
from tests.bounds.worlds import WORLD, mutated, pick

OPPOSITE: dict[str, Any] = {
    "mu": Q(1), "L": Q(1), "num_selected": 1, "sigma2": Q(0), "G2": Q(4), "objective_gap": Q(1, 2),
}  # fmt: skip


def error_of_opposite_clients(num_steps, local_steps):
    """E F(w_T) - F* for F = (w -+ 1)^2 / 2, one client drawn uniformly per round, eta_t = 1/(t + 8), w_0 = 0.

    All selections are enumerated through the second moment: a round maps w to ``a w + (1 - a) c`` with c = -1 or 1, so
    that ``E w^2`` becomes ``a^2 E w^2 + (1 - a)^2``.
    """
    second, factor = Q(0), Q(1)
    for t in range(num_steps):
        factor *= 1 - Q(1, t + 8)
        if (t + 1) % local_steps == 0:
            second, factor = factor**2 * second + (1 - factor) ** 2, Q(1)
    return second / 2


@pytest.mark.parametrize(("num_steps", "local_steps"), [(10, 10), (100, 100), (70, 7), (40, 10)])
def test_the_error_of_two_opposite_clients_is_tau_t_over_two_t_plus_seven_squared(num_steps, local_steps):
    expected = Q(local_steps * num_steps, 2 * (num_steps + 7) ** 2)
    assert error_of_opposite_clients(num_steps, local_steps) == expected


def test_eq_85_as_printed_is_false_for_one_client_per_round():
    arguments = {**OPPOSITE, "rho_bar": Q(1), "rho_tilde": Q(1), "initial_distance2": Q(0)}
    error = error_of_opposite_clients(10, 10)
    bound = poc.weighted_average_gap.printed(10, local_steps=10, **arguments)
    assert error == Q(50, 289)
    assert bound == Q(1, 6)
    assert error > bound
    # tau = T = 100: 100^2 / (2 * 107^2) = 5000/11449 against 3/108.
    assert error_of_opposite_clients(100, 100) == Q(5000, 11449)
    assert poc.weighted_average_gap.printed(100, local_steps=100, **arguments) == Q(1, 36)
    # For large T the ratio tends to tau/6.
    ratio = error_of_opposite_clients(7000, 7) / poc.weighted_average_gap.printed(7000, local_steps=7, **arguments)
    assert 1 < ratio < Q(7, 6)


def test_the_derived_form_refuses_a_single_client_and_the_repaired_one_covers_it():
    derived = {**OPPOSITE, "rho_bar": Q(1), "rho_tilde": Q(1), "initial_distance2": Q(0), "local_steps": 10}
    with pytest.raises(AssumptionViolated, match="num_selected >= 2"):
        poc.derived_weighted_average_gap(10, **derived)
    repaired = {**OPPOSITE, "rho_diagonal": Q(1), "rho_tilde": Q(1), "initial_distance2": Q(0)}
    for T, tau in ((10, 10), (100, 100), (300, 300), (40, 10)):
        assert error_of_opposite_clients(T, tau) <= poc.weighted_average_gap(T, local_steps=tau, **repaired)


def error_of_unbalanced_weights(num_steps):
    """E F(w_T) - F* for F_1 = F_2 = (w - 1)^2 / 2, p = (3/4, 1/4), q = 2 p, one client drawn uniformly, w_0 = 1.

    A step maps x = w - 1 to ``q (1 - eta) x + q - 1`` with q = 3/2 or 1/2, whose mean is 1 and mean square 5/4.
    """
    first, second = Q(0), Q(0)
    for t in range(num_steps):
        shrink = 1 - Q(1, t + 8)
        first, second = (shrink * first, Q(5, 4) * shrink**2 * second + 2 * shrink * first * (Q(5, 4) - 1) + Q(1, 4))
    return second / 2


def test_eq_85_as_printed_is_false_for_weights_that_do_not_sum_to_one():
    # Every client already agrees on w_0 = w*, so that the bound is 0, and still the model leaves it and diverges.
    arguments = {**OPPOSITE, "objective_gap": Q(0), "G2": Q(0), "rho_bar": Q(1), "rho_tilde": Q(1)}
    for T in (1, 2, 10, 40):
        assert poc.weighted_average_gap.printed(T, local_steps=1, initial_distance2=Q(0), **arguments) == 0
    assert error_of_unbalanced_weights(1) == Q(1, 8)
    # E x_1^2 = 1/4 and E x_1 = 0, hence E x_2^2 = (5/4)(8/9)^2/4 + 1/4 = 20/81 + 1/4 = 161/324.
    assert error_of_unbalanced_weights(2) == Q(161, 648)
    assert error_of_unbalanced_weights(40) > 278


def check_weighted(bound, world):
    """Compare with the recursion of C = 32 tau^2 G2 + sigma2 q_2 + 6 rho L Gamma: above it, and equal to it far out."""
    w = {n: float(v) if isinstance(v, Q) else v for n, v in world.items()}
    m, rho, L, mu, gap = w["num_selected"], w["rho_diagonal"], w["L"], w["mu"], w["objective_gap"]
    B, gamma = 1 + 3 * rho / 8, 4 * m * (1 + m) * L / mu
    C = 32 * w["local_steps"] ** 2 * w["G2"] + w["sigma2"] * w["squared_weights"] + 6 * rho * L * gap
    D = 2 * gap * (w["rho_tilde"] - rho)
    distance2 = w["initial_distance2"]
    for t in range(40_001):
        if t in (0, 1, 10, 100, 1000, 40_000):
            value, _ = bound(**{**pick(bound, w), "num_steps": t}, strict=False)
            assert value >= L / 2 * distance2 * (1 - 1e-12)
        eta = m / (mu * (t + gamma))
        distance2 = (1 - eta * mu * B) * distance2 + eta**2 * C + eta * D
    floor = L / 2 * D / (mu * B)
    # The transient decays like T^-(m B), faster than the steady part by (gamma/40000)^(m B - 1) < 1e-4.
    last = L / 2 * (distance2 - floor * 2 / L)
    assert value - floor == pytest.approx(last, rel=1e-3)


def check_weighted_everywhere(bound):
    # A world for each part of the steady state: drift, noise, heterogeneity; the last for another number of clients.
    for change in ({}, {"G2": Q(0), "sigma2": Q(900)}, {"G2": Q(0), "sigma2": Q(0), "num_selected": 3}):
        check_weighted(bound, {**WORLD, "initial_distance2": Q(0), **change})


def test_the_repaired_closed_form_solves_its_recursion():
    check_weighted_everywhere(poc.weighted_average_gap)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("C = 32 * G2", "C = 16 * G2"),
        ("sigma2 * squared_weights", "sigma2"),
        ("4 * L * m**2 * C", "4 * L * m * C"),
        ("(8 * (m - 1) + 3 * m * rho)", "(8 * m + 3 * m * rho)"),
        ("6 * rho * L", "3 * rho * L"),
    ],
)
def test_a_wrong_constant_in_the_repaired_weighted_bound_is_caught(old, new):
    mutant = mutated("power_of_choice.weighted", old, new)
    with pytest.raises(AssertionError):
        check_weighted_everywhere(mutant.weighted_average_gap)
