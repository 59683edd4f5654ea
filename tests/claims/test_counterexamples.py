"""Both sides of deterministic counterexamples, computed by hand, and hypotheses without which they do not exist."""

from fractions import Fraction as Q
from typing import Any

import pytest

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims.catalogue import known_claims
from fedtheory.claims.power_of_choice import theorems
from fedtheory.instances.vectors import vector
from fedtheory.sampling.cohorts import uniform_subsets, with_replacement
from fedtheory.verification.verdicts import examine

CLAIMS = known_claims()
# Four clients, two at 1 and two at -1, steps 1/2 from 0: with probability 1/3 the round selects equal ones and goes to
# +-1/2, else it stays. E|g|^2 of the selected ones is (1/3) 9/4 + 2/3, that of each client (1/3) 5/4 + 2/3.
SELECTED, EACH = Q(1, 3) * Q(9, 4) + Q(2, 3), Q(1, 3) * Q(5, 4) + Q(2, 3)
# After two steps the model is 1 - 0.99^2 = 0.0199 away from 0 and 0.9801 from its client: M is
# 4 eta^2 0.9801^2/2 - 2 eta (0.9801^2 - 1)/2, and the contraction (eta/2) 0.0199^2; eq. (80) has 6 eta^2/2.
NEAR, ETA = Q(9801, 10000), Q(1, 100)
M_80 = 2 * ETA**2 * NEAR**2 - ETA * (NEAR**2 - 1) + ETA / 2 * (1 - NEAR) ** 2
# What is measured, and what is predicted.
POWER_OF_CHOICE: dict[str, tuple[Any, Any]] = {
    # tau = T = 10: 100/(2 * 17^2); eq. (85): (2 * 3/2)/(10 + 8).
    "equation-85-single-client": (Q(100, 2 * 17**2), Q(3, 18)),
    # The model is multiplied by q_k = 3/2 or 1/2 whenever it stands at 1: after one step E (w - 1)^2 / 2 = 1/8.
    "equation-85-unbalanced": (Q(1, 8), 0),
    "equation-85-bias": (2, 1),
    # From 0 one step of 1/4: the chosen client is 3/4 away, the other 5/4: (9/16)/2 against ((9 + 25)/16)/4.
    "step-54-55": (Q(9, 32), Q(17, 32)),
    # Noises -+1, then +-1, from 0 with step 1/4: after one step the models are +-1/4, 1/2 apart. The gradients differ
    # by 2, then by -1/2 - 2, and a quarter of the sum is -1/8.
    "equation-16-pathwise": (Q(1, 2) ** 2, Q(1, 8) ** 2),
    # The step -(1/4) 10 gives (10/4)^2/2; the bound is eta^2 C/2 with C = 32 + 1 and eta = 1/4.
    "theorem-a.1-pathwise": (Q(100, 32), Q(33, 32)),
    # At w = 1/2 the client at -1 is selected: (3/2)^2/2 against D = (9/4 + 1/4)/4, so 9/5; at w* = 0 both have 1/2.
    "skew-order-on-iterates": (Q(9, 5), 1),
    # The same client is optimal at w' = -1.
    "rho-bar-grows-with-candidates": (0, 1),
    # Distances 1 - 0.99^t: (1 - 0.970299)^2, against 0.985 (1 - 0.9801)^2 + 3e-4.
    "equation-81-single-client": (Q(882149401, 10**12), Q("6.9006985e-4")),
    # 1/4, then a thousandth of the rest: 0.25075; the largest gradient is that of the other client, 1.25075.
    "equation-65-falling-steps": (
        Q("0.25075") ** 2, Q(1, 16) * (1 - Q("0.001375")) + (128 * Q("1.25075") ** 2 + 3) / 10**6,
    ),
    # Models at 1/4 and -1/4, with gradients up to 5/4 there: 16 * 4 * (5/4)^2/10^6 = 1e-4.
    "lemma-b2-falling-steps": (Q(1, 16), Q(1, 10**4)),
    "equation-20-marginal": (Q(1, 2) * SELECTED, Q(1, 2) * EACH),
    # From 1 the step 1/2 goes to (1 - noise)/2, and the larger of two signs is -1 with probability 1/4. Without A_2,
    # which is -1/4, there are A_1 = -1 and A_3 = A_4 = 1/4.
    "equation-30-mini-batch-seen": (Q(1, 4), 1 - 1 + Q(1, 4) + Q(1, 4)),
    # eta^2 sigma2 = 1/4, and half of it.
    "equation-41-common-noise": (Q(1, 4), Q(1, 8)),
    # beta = 2, C = gamma = 1 from 0: eta_0^2 C = 4 against beta^2 C/(1 (1 + 1)) = 2.
    "equation-66-any-gamma": (4, 2),
    # C = 32 * 3 + 6/2 = 99, and 4 C/11 is 36 times eta = 1/10^6.
    "small-steps-bias-unbiased": (Q(36, 10**6), 0),
    "equation-74-unbalanced": (Q(1, 4), 0),
    "equation-80-single-client": (M_80, 3 * ETA**2),
    "candidates-equal-selected": (Q(1, 2), Q(3, 4)),
    # F(0) - F* = (0 - 1/2)^2/2.
    "candidates-equal-selected-bias": (Q(1, 8), 0),
}  # fmt: skip
FEDALIGN: dict[str, tuple[Any, Any]] = {
    # w_1 = 0 + (1/4)(1/2) = 1/8.
    "theorem-1-printed-one-step": (Q(1, 8) ** 2 / 2, 0),
    "equation-16": (0, Q(1, 8)),
    # f(1) = 1/2 against f(0) + (0 - 1) 1 + 1/2 = -1/2; f(0) = 0 against f(1) + 0 + 1/2 = 1.
    "assumption-1-printed": (Q(1, 2), Q(-1, 2)),
    "assumption-2-printed": (0, 1),
    # w_1 = 1/8, and no sum has a term of step 0.
    "equation-34-printed": (Q(1, 64), 0),
    # 4 |w_0 - w*|^2/10 and the same without the 10 = T + gamma.
    "equation-36-printed": (4, Q(2, 5)),
    # 12 (7/14)/16 and 12/16.
    "li-et-al": (Q(3, 8), Q(3, 4)),
    # Two steps of 1/4 along a mean gradient of 2/3, against (1/16) (2/3) (1 + 1).
    "equation-44-printed": (Q(1, 9), Q(1, 12)),
    "equation-43-printed": (Q(17), Q(1)),
    # 2 (1 - 2/8).
    "equations-46-51-printed": (Q(3, 2), 1),
    # D_t = 2 (1/2) (1/2) (1/2) on average, times the step 2/9.
    "equation-49-printed": (0, Q(1, 18)),
}
GREEDYFED: dict[str, tuple[Any, Any]] = {
    "unchanged-client": (Q(-1, 16), 0),
    "vanishing-values": (Q(1), Q(0)),
    "printed-turns": (3, 4),
}
SIDES = {
    f"{paper}:{name}": sides
    for paper, found in (("power-of-choice", POWER_OF_CHOICE), ("fedalign", FEDALIGN), ("greedyfed", GREEDYFED))
    for name, sides in found.items()
}


@pytest.mark.parametrize("key", SIDES)
def test_a_false_statement_fails_by_the_numbers_computed_by_hand(key: str) -> None:
    worst = examine(CLAIMS[key]).worst
    assert worst.holds is False
    assert (worst.measured, worst.predicted) == SIDES[key]


def test_the_other_clients_pull_exceeds_equation_81_with_two_clients() -> None:
    # Twice the same client with probability 1/2: 1/8 and 1e-4 of the rest.
    assert examine(CLAIMS["power-of-choice:equation-81-falling-steps"]).worst.measured == Q("0.1250875") ** 2 / 2


def test_a_client_that_stays_alone_is_reached_as_the_product_says() -> None:
    # Steps 1/(t + 4) multiply the distance 1 from the center by (t + 3)/(t + 4): 3/(T + 3) is left of it.
    worst = examine(CLAIMS["power-of-choice:availability-with-memory"]).worst
    assert worst.measured == (1 - Q(3, 178 + 3)) ** 2 / 2 > worst.predicted


@pytest.mark.parametrize("sizes", [("1/8", "1/16"), ("1/100", "1/100"), ("1/8", "1/15")])
def test_steps_that_at_most_halve_break_none_of_them(sizes: tuple[str, str]) -> None:
    for bound, law, m in (
        (poc.one_step.printed, uniform_subsets(2, 1), 1),
        (poc.weighted_one_step.printed, with_replacement(vector("1/2", "1/2"), 2), 2),
    ):
        run = theorems.falling_run(law, vector(*sizes), local_steps=2)
        assert theorems.against_recursion(bound, run, m, "").holds
