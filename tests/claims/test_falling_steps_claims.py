"""The counterexamples to the printed recursions are derived by hand, and need the missing hypothesis."""

from fractions import Fraction as Q

import pytest

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims.fedalign import alignment
from fedtheory.claims.power_of_choice import theorems
from fedtheory.instances.vectors import vector
from fedtheory.sampling.cohorts import uniform_subsets, with_replacement
from fedtheory.verification.verdicts import examine


def test_the_third_of_ten_steps_exceeds_equation_81() -> None:
    worst = examine(theorems.equation_81_single_client).worst
    # Distances 1 - 0.99^t: (1 - 0.970299)^2, against 0.985 (1 - 0.9801)^2 + 3e-4.
    assert worst.measured == Q(882149401, 10**12)
    assert worst.predicted == Q("6.9006985e-4")


def test_a_short_step_after_a_long_one_exceeds_equation_65() -> None:
    worst = examine(theorems.equation_65_falling_steps).worst
    # 1/4, then a thousandth of the rest: 0.25075; the largest gradient is that of the other client, 1.25075.
    assert worst.measured == Q("0.25075") ** 2
    assert worst.predicted == Q(1, 16) * (1 - Q("0.001375")) + (128 * Q("1.25075") ** 2 + 3) / 10**6


def test_two_clients_apart_exceed_lemma_b2() -> None:
    worst = examine(theorems.lemma_b2_falling_steps).worst
    # Models at 1/4 and -1/4, with gradients up to 5/4 there: 16 * 4 * (5/4)^2/10^6 = 1e-4.
    assert (worst.measured, worst.predicted) == (Q(1, 16), Q(1, 10**4))


def test_the_other_clients_pull_exceeds_equation_81_with_two_clients() -> None:
    worst = examine(theorems.equation_81_falling_steps).worst
    # Twice the same client with probability 1/2: 1/8 and 1e-4 of the rest.
    assert worst.measured == Q("0.1250875") ** 2 / 2


@pytest.mark.parametrize("sizes", [("1/8", "1/16"), ("1/100", "1/100"), ("1/8", "1/15")])
def test_steps_that_at_most_halve_break_none_of_them(sizes: tuple[str, str]) -> None:
    for bound, law, m in (
        (poc.one_step.printed, uniform_subsets(2, 1), 1),
        (poc.weighted_one_step.printed, with_replacement(vector("1/2", "1/2"), 2), 2),
    ):
        run = theorems.falling_run(law, vector(*sizes), local_steps=2)
        assert theorems.against_recursion(bound, run, m, "").holds


def test_each_misprinted_assumption_fails_by_hand() -> None:
    # f(1) = 1/2 against f(0) + (0 - 1) 1 + 1/2 = -1/2; f(0) = 0 against f(1) + 0 + 1/2 = 1.
    worst = examine(alignment.assumption_1_printed).worst
    assert (worst.measured, worst.relation, worst.predicted) == (Q(1, 2), "<=", Q(-1, 2))
    worst = examine(alignment.assumption_2_printed).worst
    assert (worst.measured, worst.relation, worst.predicted) == (0, ">=", 1)
