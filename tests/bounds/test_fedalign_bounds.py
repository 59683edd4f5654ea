"""The bounds of FedALIGN: laws of their formulas, and relations between the printed and the corrected forms."""

# mypy: allow-untyped-calls

from fractions import Fraction as Q

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.bounds import fedalign as fa
from fedtheory.conformance import rationals
from fedtheory.errors import AssumptionViolated
from fedtheory.theorem.scheme import Scheme


@st.composite
def worlds(draw, shortest_round=1):
    """Constants of Theorem 1 that can occur together with Assumption 4 at w*, w_0, and the included gaps of a run."""
    mu, kappa = draw(rationals(Q(1, 4), 3)), draw(rationals(1, 5))
    G2, heterogeneous = draw(rationals(0, 20)), draw(rationals(0, 1))
    rounds = draw(st.integers(1, 4))
    shares = [draw(rationals(0, 2)) for _ in range(rounds)]
    # Gamma_k <= G2/(2 mu) and mu^2 |w_0 - w*|^2 + 2 mu Gamma <= G2.
    return {
        "mu": mu,
        "L": mu * kappa,
        "local_steps": draw(st.integers(shortest_round, 4)),
        "G2": G2,
        "sigma2": draw(rationals(0, 1)) * G2,
        "objective_gap": heterogeneous * G2 / (2 * mu),
        "initial_distance2": (1 - heterogeneous) * draw(rationals(0, 1)) * G2 / mu**2,
        "priority_weights": [1 / (1 + s) for s in shares],
        "included_gaps": [s / (1 + s) * draw(rationals(0, 1)) * G2 / (2 * mu) for s in shares],
    }


def scalars(world):
    return {name: world[name] for name in world if name not in ("priority_weights", "included_gaps")}


def aligned(world, first_step=0):
    """theta_T and rho_T at the end of the last round, and T."""
    gamma = max(8 * world["L"] / world["mu"], Q(world["local_steps"]))
    known = {"gamma": gamma, "local_steps": world["local_steps"], "first_step": first_step}
    theta = fa.theta(world["priority_weights"], **known)[-1]
    rho = fa.rho(world["included_gaps"], mu=world["mu"], L=world["L"], **known)[-1]
    return len(world["priority_weights"]) * world["local_steps"], theta, rho


def per_step(world):
    def repeated(name):
        return [value for value in world[name] for _ in range(world["local_steps"])]

    return {name: repeated(name) for name in ("priority_weights", "included_gaps")}


@pytest.mark.slow
@settings(max_examples=60)
@given(world=worlds())
def test_the_recursion_gap_solves_the_recursion(world):
    """A second road: apply Lemma A.6 step by step, in rational arithmetic."""
    steps, weights = per_step(world)["priority_weights"], per_step(world)
    gamma = max(8 * world["L"] / world["mu"], Q(world["local_steps"]))
    known = {name: world[name] for name in ("mu", "L", "local_steps", "G2", "sigma2", "objective_gap")}
    distance2 = world["initial_distance2"]
    for i in range(len(steps)):
        distance2 = fa.one_step(
            distance2,
            step_size=2 / (world["mu"] * (i + gamma)),
            priority_weight=weights["priority_weights"][i],
            included_gap=weights["included_gaps"][i],
            **known,
        )
    assert fa.recursion_gap(len(steps), **scalars(world), **weights) == world["L"] / 2 * distance2


@pytest.mark.slow
@settings(max_examples=100)
@given(world=worlds())
def test_the_corrected_theorem_follows_from_the_recursion(world):
    horizon, theta, rho = aligned(world)
    corrected = fa.full_participation_gap(horizon, theta=theta, rho=rho, **scalars(world))
    assert fa.recursion_gap(horizon, **scalars(world), **per_step(world)) <= corrected


def test_the_printed_theorem_loses_the_first_step_of_one_local_step():
    # The priority client stands at its minimum, the included one has Gamma_2 = 1/2 and the same share:
    # D_0/2 = (1/2)/(1 + 1) and nothing later. Printed: 0. Corrected at T = 1: (2/7)(1/4) = 1/14.
    world = {"mu": Q(1), "L": Q(1), "local_steps": 1, "G2": 1, "sigma2": 0, "objective_gap": 0, "initial_distance2": 0}
    gaps = [Q(1, 4), Q(0), Q(0)]
    printed = fa.rho(gaps, mu=1, L=1, gamma=8, local_steps=1, first_step=1)
    assert printed == [0, 0, 0]
    assert fa.full_participation_gap.printed(1, theta=0, rho=printed[0], **world) == 0
    corrected = fa.rho(gaps, mu=1, L=1, gamma=8, local_steps=1)
    assert fa.full_participation_gap(1, theta=0, rho=corrected[0], **world) == Q(1, 14)
    # The exact recursion gives (1/2)(4 (gamma - 1) (1/4) / ((T + gamma - 1)(T + gamma - 2))) = 7/2/56.
    recursion = fa.recursion_gap(1, priority_weights=[Q(1, 2)], included_gaps=gaps, **world)
    assert recursion == Q(1, 16)


@pytest.mark.parametrize("gamma", [2, 1.5])
def test_a_gamma_that_would_divide_by_nothing_is_refused(gamma):
    with pytest.raises(ValueError, match="gamma must be above 2"):
        fa.theta([Q(1)], gamma=gamma, local_steps=1)


def test_without_inclusion_only_priority_clients_count():
    nobody, priority = [0.25, 0.75, 0.0], [True, True, False]
    assert fa.priority_weights(nobody, priority) == 1.0
    assert fa.included_gaps(nobody, priority, [1.0, 2.0, 3.0]) == 0.0
    assert fa.priority_weights([0.05, 0.15, 0.8], priority) == pytest.approx(0.2, rel=1e-15)
    # theta with nothing included: T/(T + gamma - 2), printed (T - 1)/(T + gamma - 2), never 1.
    ones = [Q(1)] * 3
    assert fa.theta(ones, gamma=8, local_steps=2)[-1] == Q(6, 12)
    assert fa.theta(ones, gamma=8, local_steps=2, first_step=1)[-1] == Q(5, 12)


def test_a_bound_for_full_participation_refuses_drawn_priority_clients():
    drawn = Scheme("loss matching, priority drawn with replacement", "renormalized")
    assert not fa.full_participation_gap.statement.accepts(drawn)
    assert fa.partial_participation_gap.statement.accepts(drawn)
    assert not fa.full_participation_gap.statement.accepts(Scheme("power of choice", "mean"))


@pytest.mark.parametrize("bad", [[[0.5, 0.4]], [[1.0, 0.0], [1.5, -0.5]], [[0.0, 0.0]]])
def test_aggregation_weights_are_those_of_a_mean(bad):
    for call in (
        lambda: fa.priority_weights(bad, [True, False]),
        lambda: fa.included_gaps(bad, [True, False], [1.0, 2.0]),
    ):
        with pytest.raises(ValueError, match="weights must"):
            call()
    with pytest.raises(AssumptionViolated, match="with sum 1 over every selection: got the sum"):
        fa.aggregated_distance([1, 2], weights=[Q(1, 2), Q(1, 3)])


@pytest.mark.parametrize("side", [-1, 1])
def test_weights_of_a_round_may_miss_the_sum_one_by_a_trillionth_and_no_more(side):
    near, far = ([[0.25, 0.75], [0.5, 0.5 + side * miss]] for miss in (0.9e-12, 1.1e-12))
    assert fa.priority_weights(near, [True, False]).tolist() == [0.25, 0.5]
    with pytest.raises(ValueError, match="must sum to 1 over the clients of every round"):
        fa.priority_weights(far, [True, False])
