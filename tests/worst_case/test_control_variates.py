"""The worst round of SCAFFOLD, against rational bounds that were certified by another program."""

from fractions import Fraction as Q

import pytest

from fedtheory.worst_case.control_variates import scaffold


@pytest.mark.parametrize(
    ("mu", "eta", "tau", "lower", "upper"),
    [
        (Q(1, 10), Q(1, 5), 5, "0.817072761", "0.817072808"),
        (Q(1, 10), Q(3, 2), 2, "0.56249976", "0.56250001"),
        (Q(1, 100), Q(1), 5, "0.90438205", "0.90438208"),
        (Q(1, 2), Q(1, 2), 3, "0.179450161", "0.179450189"),
    ],
)
def test_a_round_has_the_value_that_was_certified_before(mu, eta, tau, lower, upper) -> None:
    low, high = scaffold(tau, eta, mu=mu, L=1).enclosure
    assert low <= Q(upper)
    assert Q(lower) <= high
    assert high - low < Q(1, 10**6)


def test_two_rounds_are_worth_four_steps_of_gradient_descent() -> None:
    low, high = scaffold(2, Q(1, 8), mu=1, L=4, num_rounds=2).enclosure
    assert low <= Q(7, 8) ** 8 <= high


def test_steps_beyond_one_over_tau_l_can_be_slower_than_gradient_descent() -> None:
    low, _ = scaffold(2, Q(3, 2), mu=Q(1, 10), L=1).enclosure
    assert low > (1 - Q(3, 20)) ** 4
