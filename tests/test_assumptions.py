"""Assumptions are values that print, check numbers, and contradict each other if no problem fulfills both."""

from dataclasses import replace
from fractions import Fraction as Q
from typing import Any

import numpy as np
import pytest

from fedtheory.bounds import fedalign, power_of_choice
from fedtheory.bounds.recursion import unroll
from fedtheory.errors import AssumptionViolated
from fedtheory.theorem.assumptions import (
    AggregationWeights,
    Assumption,
    BoundedGradients,
    Convex,
    HalvingSteps,
    Hypothesis,
    Noise,
    Smooth,
    StronglyConvex,
    unmet,
)
from fedtheory.theorem.implications import consequences

STARTS = "E |grad F_k(u)|^2 <= B for all k at every round's starting model u"
WEIGHTS = "aggregation weights q_k >= 0 with sum 1 over every selection"
STEPS = "step sizes do not increase, and at most halve within a round"
Value = tuple[Assumption, str, dict[str, Any], str | None]
VALUES: list[Value] = [
    (Smooth(), "every F_k is L-smooth", {"L": 0}, "L > 0: got 0 <= 0"),
    (
        Smooth("beta", of="f", source="Assumption 7"),
        "f is beta-smooth (Assumption 7)",
        {"beta": -1.5},
        "beta > 0: got -1.5 <= 0",
    ),
    (StronglyConvex("mu", of="h"), "h is mu-strongly convex", {"mu": Q(-1, 2)}, "mu >= 0: got -1/2 < 0"),
    (Convex("every f_i"), "every f_i is convex", {}, None),
    (
        BoundedGradients(source="Assumption 3.4"),
        "E |g_k|^2 <= G2 for every client and iterate (Assumption 3.4)",
        {"G2": -1},
        "G2 >= 0: got -1 < 0",
    ),
    (
        BoundedGradients("B", weights="q_k"),
        f"E sum_k q_k |g_k|^2 <= B over the active clients, and {STARTS}",
        {"B": -1},
        "B >= 0: got -1 < 0",
    ),
    (
        BoundedGradients(weights="1/m", at_starts=False, given="the indicators"),
        "E sum_k 1/m |g_k|^2 <= G2 over the active clients, also given the indicators",
        {"G2": -2.5},
        "G2 >= 0: got -2.5 < 0",
    ),
    (
        BoundedGradients(given="the indicators", source="Assumption 4"),
        "E |g_k|^2 <= G2 for every client and iterate (Assumption 4), also given the indicators",
        {"G2": 0},
        None,
    ),
    (
        Noise("sigma2", relative="M", across="uncorrelated", source="Assumption 7"),
        "stochastic gradients are unbiased, of variance at most M |grad|^2 + sigma2, and uncorrelated (Assumption 7)",
        {"sigma2": 1, "M": -1},
        "M >= 0: got -1 < 0",
    ),
    (
        AggregationWeights(),
        WEIGHTS,
        {"weights": (Q(1, 2), Q(1, 3))},
        f"{WEIGHTS}: got the sum 5/6 and the smallest weight 1/3",
    ),
    (
        AggregationWeights(),
        WEIGHTS,
        {"weights": np.array([1.5, -0.5])},
        f"{WEIGHTS}: got the sum 1.0 and the smallest weight -0.5",
    ),
    (
        HalvingSteps(),
        STEPS,
        {"step_sizes": [0.5, 0.2], "local_steps": 2},
        f"{STEPS}: got 0.2 at step 1 after 0.5 at the round's start",
    ),
    (Hypothesis("a < b", lambda a, b: (a, "<", b)), "a < b", {"a": 2, "b": 2}, "a < b: got 2 >= 2"),
]


@pytest.mark.parametrize(("value", "text", "numbers", "violation"), VALUES)
def test_a_value_prints_itself_compares_and_checks_its_numbers(
    value: Assumption, text: str, numbers: dict[str, Any], violation: str | None
) -> None:
    assert value.text == text
    assert replace(value) == value  # type: ignore[type-var]
    assert hash(replace(value)) == hash(value)  # type: ignore[type-var]
    assert value.violation(numbers) == violation


def test_what_is_not_among_the_arguments_is_not_violated() -> None:
    for value, _, _, _ in VALUES[:-1]:
        assert value.violation({}) is None


@pytest.mark.parametrize(
    ("sizes", "local_steps", "fine"),
    [
        ([4, 2, 4, 2], 2, True),  # between rounds anything goes
        ([4, 3, 2], 3, True),
        ([4, 3, 1.9], 3, False),
        ([4, 1.9], 1, True),
        ([2, 4], 2, False),
        ([4, 2, 3], 3, False),
        ([], 3, True),
        ([0.3, 0.15, 0.15 * (1 + 2**-52)], 3, True),  # rounding
        ([0.3, 0.15 * (1 - 2**-52)], 3, True),
        ([0.3, 0.15 * (1 - 2**-40)], 3, False),
        ([0.3, 0.3 * (1 + 2**-40)], 3, False),
    ],
)
def test_steps_halve_at_most_within_their_round(sizes: list[float], local_steps: int, fine: bool) -> None:
    assert (HalvingSteps().violation({"step_sizes": sizes, "local_steps": local_steps}) is None) is fine


POC: dict[str, Any] = {
    "mu": Q(1, 2), "L": Q(3), "local_steps": 2, "num_selected": 4, "sigma2": Q(5), "objective_gap": Q(2),
    "rho_diagonal": Q(3, 2), "rho_tilde": Q(2), "G2": Q(57, 8),
}  # fmt: skip


def test_computed_numbers_may_attain_an_implied_inequality_up_to_rounding() -> None:
    both = (StronglyConvex(), BoundedGradients())
    [implied] = consequences(both, ("mu", "G2", "initial_distance2", "objective_gap"))
    numbers = {"mu": 0.1, "initial_distance2": 3.0, "objective_gap": 0.7}
    least = 0.1**2 * 3.0 + 2 * 0.1 * 0.7
    assert implied.violation({**numbers, "G2": least * (1 - 1e-12)}) is None
    assert implied.violation({**numbers, "G2": least * (1 - 1e-6)}) is not None
    assert implied.violation({**numbers, "G2": least * np.array([2.0, 0.5])}) is not None
    # Floating point on one side is enough; the message shows what was given.
    mixed = {"mu": Q(1), "initial_distance2": Q(3), "objective_gap": Q(1)}
    assert implied.violation({**mixed, "G2": 5 * (1 - 1e-12)}) is None
    assert implied.violation({**mixed, "G2": Q(5) - Q(1, 10**12)}) is not None
    assert str(implied.violation({**mixed, "G2": 4.0})).endswith("got 5 > 4.0")
    from_below, _ = consequences((StronglyConvex(), Smooth()), ("mu", "L", "distance2", "gap"))
    gap = {"mu": 0.3, "L": 0.7, "distance2": 1.1}
    assert from_below.violation({**gap, "gap": 0.3 * 1.1 / 2 * (1 - 1e-12)}) is None
    assert from_below.violation({**gap, "gap": 0.3 * 1.1 / 2 * (1 - 1e-6)}) is not None


def test_gradients_of_the_objective_alone_imply_nothing_about_clients() -> None:
    names = ("mu", "G2", "initial_distance2", "objective_gap")
    assert consequences((StronglyConvex(of="f"), BoundedGradients()), names) == ()
    assert consequences((StronglyConvex(), BoundedGradients(weights="q_k", at_starts=False)), names) == ()
    assert consequences((StronglyConvex(), BoundedGradients()), ("mu", "G2")) == ()


def test_unrolling_checks_the_start_and_the_steps_of_rounds() -> None:
    known = {n: float(v) if isinstance(v, Q) else v for n, v in POC.items() if n != "local_steps"}
    run: dict[str, Any] = {"initial_distance2": 11.0, "step_sizes": [1 / 12, 1 / 30], "local_steps": 2, **known}
    assert unroll(power_of_choice.one_step, **run).shape == (3,)
    with pytest.raises(AssumptionViolated, match=r"mu\^2 initial_distance2"):
        unroll(power_of_choice.one_step, **{**run, "initial_distance2": 11.1})
    # Later steps may have smaller gradients.
    unroll(power_of_choice.one_step, **{**run, "G2": np.array([57 / 8, 6.0])})
    printed = {**run, "rho_bar": run["rho_diagonal"]}
    del printed["rho_diagonal"]
    with pytest.raises(AssumptionViolated, match=r"halve within a round: got 0\.0333.* at step 1 after 0\.0833"):
        unroll(power_of_choice.one_step.printed, **printed)
    assert unroll(power_of_choice.one_step.printed, **{**printed, "local_steps": 1}).shape == (3,)
    aligned = {"mu": 0.5, "L": 3.0, "G2": 20.0, "sigma2": 1.0, "objective_gap": 1.0, "priority_weight": 1.0}
    aligned |= {"included_gap": 0.0, "initial_distance2": 5.0}
    with pytest.raises(AssumptionViolated, match=r"Lemma A\.6 needs step sizes do not increase"):
        unroll(fedalign.one_step, step_sizes=[1 / 30, 1 / 12], local_steps=2, **aligned)


def test_rationals_must_sum_to_one_exactly_and_doubles_also_among_rationals_up_to_rounding() -> None:
    weights = AggregationWeights()
    for forgiven in ((0.1, 0.7, 0.2), (Q(1, 10), 0.7, 0.2), (Q(1, 10), Q(7, 10), Q(2, 10))):
        assert weights.violation({"weights": forgiven}) is None
    off = Q(1, 10**17)
    assert "got the sum" in str(weights.violation({"weights": (Q(1, 10) + off, Q(7, 10), Q(2, 10))}))


def test_a_double_on_either_side_is_forgiven_its_rounding_and_two_rationals_are_not() -> None:
    above, allowed = Q(1) + Q(1, 10**16), 4 * 2.0**-52
    assert unmet("x <= y", above, "<=", 1.0, allowed) is None
    assert unmet("x <= y", 1.0, "<=", Q(1) - Q(1, 10**16), allowed) is None
    assert unmet("x <= y", above, "<=", Q(1), allowed) is not None
    assert unmet("x >= y", Q(1) - Q(1, 10**16), ">=", 1.0, allowed) is None
    assert unmet("x <= y", 1 + 1e-14, "<=", 1.0, allowed) is not None
