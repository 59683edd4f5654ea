"""Rounding tolerance of probabilities on each side, and the instances that are used."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from fedtheory.conformance import check_probabilities
from fedtheory.conformance import probabilities as kit
from fedtheory.conformance._checks import Failed
from fedtheory.sampling import optimal_probabilities


def answering(*answers: Any) -> Any:
    """Return a rule that gives these answers one after the other."""
    left = iter(answers)
    return kit._Rule(lambda *_: next(left), 1e-9)


def passes(demand: Any, instance: kit.Instance, *answers: Any) -> bool:
    try:
        demand(answering(*answers), instance)
    except Failed:
        return False
    return True


def above(value: float) -> float:
    return float(np.nextafter(value, np.inf))


def test_probabilities_may_be_a_billionth_beyond_the_box_on_either_side() -> None:
    some = kit._of([1, 2, 3], 2)
    assert passes(kit._box, some, [0.5, 1 + 1e-9, 0.25])
    assert not passes(kit._box, some, [0.5, above(1 + 1e-9), 0.25])
    assert passes(kit._box, some, [0.5, -0.9e-9, 0.25])
    assert not passes(kit._box, some, [0.5, -1.1e-9, 0.25])


def test_probabilities_may_spend_a_billionth_of_the_budget_too_much() -> None:
    some = kit._of([1, 2, 3], 2.5)
    for total, allowed in ((2.5 * (1 + 1e-9), True), (above(2.5 * (1 + 1e-9)), False)):
        assert passes(kit._budget, some, [0.0, total, 0.0]) == allowed


def test_probabilities_may_leave_a_millionth_unused_of_what_clients_with_norms_can_use() -> None:
    # Of a budget of 2.5 two clients with positive norms can use 2; what the third is given is no use.
    some = kit._of([1, 0, 3], 2.5)
    for spent, allowed in ((2 * (1 - 1e-6), True), (2 * (1 - 1.1e-6), False)):
        assert passes(kit._unused, some, [1.0, 0.5, spent - 1]) == allowed
    assert passes(kit._unused, kit._of([4], 0.25), [0.25 * (1 - 1e-6)])


def test_what_rounding_puts_beyond_the_box_is_certified_as_if_it_were_not() -> None:
    # The three that are small share what the large one leaves.
    third = (1 - 0.8e-9) / 3
    optimal = partial(kit._optimal, 1e-8)
    assert passes(optimal, kit._of([1, 1, 1, 10], 2), *[[third, third, third, 1 + 0.8e-9]] * 3)


def test_what_rounding_puts_beyond_the_box_does_not_hide_a_gap() -> None:
    # Moved by d, two of the thirds add 2 * 27 d^2 to an objective of 3 * 3 + 100: 4.5e-10 of it. What the large one has
    # beyond 1 would lower it by 0.8e-9 of its 100.
    third, d = (1 - 0.8e-9) / 3, 3e-5
    with pytest.raises(Failed, match=r"up to (5|4\.\d+|5\.\d+)e-10 above"):
        kit._optimal(1e-10, answering(*[[third + d, third - d, third, 1 + 0.8e-9]] * 3), kit._of([1, 1, 1, 10], 2))


def test_an_objective_may_be_as_far_from_its_minimum_as_is_allowed() -> None:
    # Norms 1 and 3 and a budget of 1: (1 + 3)^2 = 16 is the minimum, halves have 2 (1 + 9) = 20, a fifth of which is 4.
    some, halves = kit._of([1, 3], 1), [[0.5, 0.5]] * 3
    kit._optimal(0.2, answering(*halves), some)
    with pytest.raises(Failed, match=r"must be within 0.1999 of its minimum, got \[0.5, 0.5\], up to 0.2 above"):
        kit._optimal(0.1999, answering(*halves), some)


def test_equal_norms_may_have_probabilities_a_thousandth_apart_and_unequal_ones_what_they_like() -> None:
    some = kit._of([2, 5, 5, 2], 2)
    assert passes(kit._tied, some, [0.0, 0.75, 0.7495, 1e-3])
    assert not passes(kit._tied, some, [0.0, 0.75, 0.7485, 1e-3])
    assert not passes(kit._tied, some, [above(1e-3), 0.75, 0.75, 0.0])


@pytest.mark.parametrize("demand", [kit._relabeled, kit._again])
@pytest.mark.parametrize("farther", [0, 1])
def test_two_answers_may_be_a_thousandth_apart_whichever_is_larger(demand: Any, farther: int) -> None:
    def are_one(apart: float) -> bool:
        answers = [[0.0, 0.75], [0.0, 0.75]]
        answers[farther][0] = apart
        if demand is kit._relabeled:
            answers[1] = answers[1][::-1]  # as of the norms backward
        return passes(demand, kit._of([1, 3], 1), *answers)

    assert are_one(1e-3)
    assert not are_one(above(1e-3))


def test_probabilities_in_single_precision_pass_with_its_rounding_error() -> None:
    def single(norms: Any, expected_size: float) -> Any:
        return optimal_probabilities(np.float32(norms), expected_size).astype(np.float32)

    far = {"scaling": "1e-100 is 0 in single precision"}
    assert check_probabilities(single, rtol=1e-5, exceptions=far).holds
    assert not check_probabilities(single, exceptions=far).holds
