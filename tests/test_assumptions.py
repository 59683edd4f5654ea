"""Assumptions are values that print, check numbers, and contradict each other if no problem fulfills both."""

from dataclasses import replace
from fractions import Fraction as Q
from typing import Any

import numpy as np
import pytest

from fedtheory.bounds import fedalign, fedavg, optimal_client_sampling, power_of_choice
from fedtheory.bounds.catalogue import known_bounds
from fedtheory.bounds.recursion import unroll
from fedtheory.errors import AssumptionViolated
from fedtheory.theorem import assumptions
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
from fedtheory.theorem.bound import states
from fedtheory.theorem.implications import consequences
from fedtheory.theorem.paper import Paper

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


def test_weights_given_in_floating_point_may_miss_one_by_rounding() -> None:
    assert AggregationWeights().violation({"weights": np.full(7, 1 / 7)}) is None
    assert AggregationWeights().violation({"weights": np.full(7, 1 / 7 + 1e-9)}) is not None


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


def test_the_step_sizes_of_the_theorems_halve_at_most() -> None:
    for mu, L, tau in ((1.0, 1.0, 5), (0.3, 7.7, 20)):
        sizes = power_of_choice.decaying_step_sizes(200, mu=mu, L=L)
        assert HalvingSteps().violation({"step_sizes": sizes, "local_steps": min(tau, int(4 * L / mu) + 1)}) is None
        for E in (tau, 50):
            sizes = fedavg.decaying_step_sizes(200, mu=mu, L=L, local_steps=E)
            assert HalvingSteps().violation({"step_sizes": sizes, "local_steps": E}) is None


POC: dict[str, Any] = {
    "mu": Q(1, 2),
    "L": Q(3),
    "local_steps": 2,
    "num_selected": 4,
    "sigma2": Q(5),
    "objective_gap": Q(2),
    "rho_diagonal": Q(3, 2),
    "rho_tilde": Q(2),
    "G2": Q(57, 8),
}
# (1/2)^2 11 + 2 (1/2) 2 = 19/4, and 3/2 of it is 57/8.
LEAST_G2 = Q(57, 8)


def test_gradients_at_the_start_are_as_large_as_strong_convexity_makes_them() -> None:
    bound = power_of_choice.decaying_steps_gap
    bound(10, **POC, initial_distance2=Q(11))
    with pytest.raises(AssumptionViolated, match=r"max\(1, rho_diagonal\) \(mu\^2 initial_distance2 \+ 2 mu obj"):
        bound(10, **{**POC, "G2": LEAST_G2 - Q(1, 10**9)}, initial_distance2=Q(11))
    # With a skew below 1 the mean over all clients counts.
    small = {**POC, "rho_diagonal": Q(1, 2), "sigma2": Q(0)}
    bound(10, **{**small, "G2": Q(19, 4)}, initial_distance2=Q(11))
    with pytest.raises(AssumptionViolated, match=r"got 19/4 > 4\.749999999"):
        bound(10, **{**small, "G2": Q(19, 4) - Q(1, 10**9)}, initial_distance2=Q(11))


def test_a_gap_at_the_start_counts_in_full() -> None:
    # 2 mu rho (gap + Gamma) = 2 (1/2) (3/2) (4 + 2) = 9.
    known = {**POC, "step_size": Q(1, 12), "initial_gap": Q(4)}
    power_of_choice.fixed_step_gap(10, **{**known, "G2": Q(9)})
    with pytest.raises(AssumptionViolated, match=r"2 mu max\(1, rho_diagonal\) \(initial_gap \+ objective_gap\) <= G2"):
        power_of_choice.fixed_step_gap(10, **{**known, "G2": Q(9) - Q(1, 10**9)})


def test_the_gap_alone_counts_in_a_single_step() -> None:
    # 2 mu rho Gamma = 3.
    known = {**POC, "sigma2": Q(0), "step_size": Q(1, 12), "elapsed_step_size": Q(0)}
    power_of_choice.one_step(Q(100), **{n: v for n, v in {**known, "G2": Q(3)}.items() if n != "local_steps"})
    with pytest.raises(AssumptionViolated, match=r"2 mu max\(1, rho_diagonal\) objective_gap <= G2"):
        power_of_choice.one_step(Q(1), **{n: v for n, v in {**known, "G2": Q(29, 10)}.items() if n != "local_steps"})


def test_the_constants_of_the_first_readme_were_impossible() -> None:
    constants: dict[str, Any] = {"mu": 1.0, "L": 4.0, "local_steps": 2, "num_selected": 3, "sigma2": 1.0}
    constants |= {"objective_gap": 0.5, "rho_tilde": 2.0, "initial_distance2": 25.0}
    with pytest.raises(AssumptionViolated, match=r"got 31\.2 > 10\.0"):
        power_of_choice.decaying_steps_gap(1000, rho_diagonal=1.2, G2=10.0, **constants)
    assert power_of_choice.decaying_steps_gap(1000, rho_diagonal=1.2, G2=31.2, **constants) > 0
    value, unmet = power_of_choice.decaying_steps_gap(1000, rho_diagonal=1.2, G2=10.0, strict=False, **constants)
    assert value == pytest.approx(6.77, abs=0.005)
    assert len(unmet) == 1


def test_a_variance_is_at_most_the_mean_square() -> None:
    with pytest.raises(AssumptionViolated, match=r"sigma2 <= G2 .*: got 8 > 57/8"):
        power_of_choice.decaying_steps_gap(10, **{**POC, "sigma2": Q(8)}, initial_distance2=Q(11))
    # Under unequal weights the mean square may be small although a rare client is noisy.
    texts = [implied.text for implied in power_of_choice.weighted_one_step.consequences]
    assert not any(text.startswith("sigma2") for text in texts)


def test_squares_of_weights_sum_to_at_least_one_over_their_number() -> None:
    known = {**POC, "initial_distance2": Q(11)}
    power_of_choice.weighted_average_gap(10, **known, squared_weights=Q(1, 4))
    with pytest.raises(AssumptionViolated, match=r"squared_weights >= 1/num_selected .*: got 24/25 < 1"):
        power_of_choice.weighted_average_gap(10, **known, squared_weights=Q(6, 25))


@pytest.mark.parametrize(("gap", "text"), [(Q(3), r"gap >= mu/2 distance2"), (Q(20), r"gap <= L/2 distance2")])
def test_a_gap_lies_between_two_parabolas(gap: Q, text: str) -> None:
    known: dict[str, Any] = {"step_size": Q(1, 200), "mu": Q(1, 2), "L": Q(3), "gamma": Q(2, 3), "max_weight": Q(1, 2)}
    known |= {"sum_squared_weights": Q(11, 32), "relative_noise": Q(3, 4), "sigma2": Q(5), "objective_gap": Q(2)}
    for possible in (Q(13, 4), Q(39, 2)):
        optimal_client_sampling.dsgd_strongly_convex(Q(13), gap=possible, **known)
    with pytest.raises(AssumptionViolated, match=text):
        optimal_client_sampling.dsgd_strongly_convex(Q(13), gap=gap, **known)


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


def test_bounds_of_all_papers_read_off_what_their_assumptions_imply() -> None:
    implying = {name for name, bound in known_bounds().items() if bound.consequences}
    with_gradients = {
        name
        for name, bound in known_bounds().items()
        if _has(bound, BoundedGradients) and _has(bound, StronglyConvex) and "refined_one_step" not in name
    }
    assert with_gradients <= implying
    assert {"fedavg.without_replacement_gap", "fedalign.recursion_gap"} <= with_gradients


def _has(bound: Any, kind: type) -> bool:
    return any(isinstance(known, kind) for known in bound.hypotheses)


def test_a_users_theorem_gets_the_consequences_of_its_assumptions() -> None:
    paper = Paper("mine", "A Theorem", "Me", 2026)

    @states(paper, "Theorem 1", assumes=(StronglyConvex(), BoundedGradients()))
    def mine(*, mu, G2, objective_gap, initial_distance2):  # type: ignore[no-untyped-def]
        return {"all": mu * G2 * objective_gap * initial_distance2}

    assert mine(mu=1, G2=7, objective_gap=2, initial_distance2=3) == 42
    with pytest.raises(AssumptionViolated, match=r"Theorem 1 needs mu\^2 initial_distance2 .*: got 7\.0 > 6"):
        mine(mu=1, G2=6, objective_gap=2, initial_distance2=3)


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


def test_every_assumption_can_be_shown() -> None:
    for name in assumptions.__all__:
        assert getattr(assumptions, name).__doc__


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


def test_an_equality_as_a_hypothesis_is_refused_with_its_text() -> None:
    equality = Hypothesis("step_size == 1/L", lambda step_size, L: (step_size, "==", 1 / L))
    with pytest.raises(ValueError, match=r"the hypothesis 'step_size == 1/L' must relate its sides by <=, <, >=, >"):
        equality.violation({"step_size": 0.5, "L": 2.0})
