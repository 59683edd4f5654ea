"""Edge cases of programs: rejected ones, and laws that hold in all cases."""

from fractions import Fraction as Q
from itertools import combinations

import numpy as np
import pytest

from fedtheory.worst_case import Problem, skewed_selection
from fedtheory.worst_case.instances import vertices


@pytest.mark.parametrize("num", [1, 2, 3, 5])
def test_vertices_of_a_simplex_are_equally_far_apart_and_of_sum_zero(num: int) -> None:
    found = vertices(num)
    assert found.shape == (num, num - 1)
    angles = (num * np.eye(num) - 1) / max(num - 1, 1)
    assert found @ found.T == pytest.approx(angles, abs=1e-14)


def test_numbers_of_a_horizon_are_rounded_to_their_own_side_and_keep_their_digits() -> None:
    for number in (Q(1, 3), Q(2, 3), Q(10**30, 7), Q(1, 7 * 10**30), Q(3)):
        below, above = (skewed_selection._rounded(number, up=up) for up in (False, True))
        assert below <= number <= above
        assert above - below <= number / 2 ** (skewed_selection._DIGITS - 1)
        assert (above == below) is (number.denominator == 1 and number < 10)
        assert max(below.numerator, below.denominator).bit_length() <= skewed_selection._DIGITS + 110
    assert {skewed_selection._rounded(Q(0), up=up) for up in (False, True)} == {Q(0)}


def test_parabolas_of_three_clients_of_which_the_last_gradient_follows_from_the_others_attain_their_worst_case() -> (
    None
):
    p = Problem()
    clients = [p.function(mu=Q(1, 10), L=1, quadratic=True, minimum=0) for _ in range(3)]
    F = p.mean(clients)
    best, w = F.minimizer(p.origin, objective_gap=Q(1, 2)), p.point("start")
    p.at_most((w - best).square, 1, "distance2")
    models = [client.step(w, Q(1, 4)) for client in clients]
    p.maximize(p.mean([F.value(p.mean(pair)) for pair in combinations(models, 2)]) - F.value(best))
    worst = p.solve()
    assert worst.instance().run() == pytest.approx(float(worst.enclosure[0]), rel=1e-9)
    assert worst.relative_width < 1e-5
