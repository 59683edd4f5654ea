"""Optimal Client Sampling over several rounds, and invalid averages of alpha and gamma."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.claims.optimal_client_sampling._situations import distance2_after
from fedtheory.instances.draws import draw_model, draw_shares
from fedtheory.instances.federations import RationalQuadratics, Wells, opposite_clients
from fedtheory.instances.sampled_rounds import SampledRound, full_law, optimal_law, uniform_law
from fedtheory.instances.vectors import Vector, combination, norm2, vector
from fedtheory.statistics.law import Law
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import pick, whole
from fedtheory.theorem.findings import Finding, at_most, worst_of
from fedtheory.theorem.paper import FEDTHEORY, Statement

_SERVER = Fraction(2)


def draw_pair(rng: np.random.Generator) -> RationalQuadratics:
    """Draw two quadratics in one dimension."""
    weights = draw_shares(rng, 2)
    curvatures = tuple(vector(Fraction(2) ** whole(rng, -1, 1)) for _ in weights)
    return RationalQuadratics(curvatures, tuple(draw_model(rng, 1) for _ in weights), weights, vector(0, 0))


def constants_of(fed: RationalQuadratics) -> dict[str, Fraction]:
    """Return mu of f and L."""
    return {"mu": min(combination(fed.weights, fed.curvatures)), "L": fed.smoothness}


def rounds_from(first: SampledRound, count: int) -> list[Law[SampledRound]]:
    """Return the law of each of several rounds, which differ in their starting model."""
    laws = [Law.certain(first)]
    for _ in range(count - 1):
        laws.append(laws[-1].then(lambda each: each.models).map(lambda x: replace(first, model=x)))
    return laws


def mean_inverse_gamma(rounds: Law[SampledRound]) -> Fraction:
    """``E[1/gamma^k]``."""
    return Fraction(rounds.mean(lambda each: 1 / each.gamma))


@claim(
    "optimal-client-sampling:equation-22",
    "with full participation, E |r^K|^2 <= (1 - mu eta)^K |r^0|^2 + eta sigma2/mu sum_i w_i^2 after up to three rounds",
    ocs.full_participation_distance,
    looseness=1.01,
)
def equation_22(rng: np.random.Generator) -> Finding:
    fed, noise = draw_pair(rng), Fraction(whole(rng, 0, 2), 2)
    model = fed.minimizer if whole(rng, 0, 1) else draw_model(rng, 1)
    eta = Fraction(whole(rng, 1, 4), 4) / fed.smoothness
    first = SampledRound(fed.gradient, fed.weights, model, full_law, eta, noise_length=noise)
    known = constants_of(fed) | {"sum_squared_weights": norm2(fed.weights), "step_size": eta, "sigma2": noise**2}
    known["initial_distance2"] = norm2(model - fed.minimizer)
    return worst_of(
        at_most(
            Fraction(rounds.mean(lambda each: distance2_after(each, fed.minimizer))),
            ocs.full_participation_distance(K, **known),
            instance={"weights": str(fed.weights), "rounds": K},
        )
        for K, rounds in enumerate(rounds_from(first, 3), start=1)
    )


def draw_descent(rng: np.random.Generator, most_local_steps: int) -> tuple[Wells, Fraction, SampledRound, int]:
    """Draw clients, a budget, the first of K rounds of DSGD (or of FedAvg if there are local steps), and K = 1 or 2.

    The two clients differ by a slope; the run starts near the minimizer 0 of their mean, whose infimum is 0.
    """
    weights, slope = draw_shares(rng, 2, largest=3), Fraction(whole(rng, 0, 4), 4)
    amplitude = Fraction(whole(rng, 1, 4), 2)
    clients = Wells(Vector([amplitude] * 2), vector(0, 0), vector(slope / weights[0], -slope / weights[1]), weights)
    m = Fraction(whole(rng, 1, 4), 2)
    R, K = whole(rng, 1, most_local_steps), whole(rng, 1, 2)
    noise = Fraction(whole(rng, 0, 2) * (R == 1), 2)  # additive: M = 0
    longest = m / 2 / clients.smoothness
    if most_local_steps > 1:
        longest = min(longest, 1 / (2 * clients.smoothness)) / 8
    model = vector(Fraction(whole(rng, 0, 8), pick(rng, [4, 64])))
    eta, server = longest * Fraction(whole(rng, 1, 4), 4), _SERVER if most_local_steps > 1 else Fraction(1)
    first = SampledRound(clients.gradient, weights, model, optimal_law(m), eta, R, server, noise_length=noise)
    return clients, m, first, K


def against_average(bound: Callable[..., Any], most_local_steps: int) -> Callable[[np.random.Generator], Finding]:
    """Return a check that compares ``E |grad f|^2``, averaged over one or two rounds, with a bound."""

    def check(rng: np.random.Generator) -> Finding:
        clients, m, first, K = draw_descent(rng, most_local_steps)
        laws = rounds_from(first, K)
        known: dict[str, Any] = {
            "step_size": first.step_size,
            "L": clients.smoothness,
            "dissimilarity": clients.dissimilarity,
        }
        known |= {"initial_gap": clients.value(first.model), "smallest_gamma": m / 2, **first.constants}
        known["mean_inverse_gamma"] = sum(map(mean_inverse_gamma, laws), start=Fraction(0)) / K
        if most_local_steps > 1:
            known |= {"server_step_size": _SERVER, "local_steps": first.local_steps}
        squares = sum(rounds.mean(lambda each: norm2(each.full_gradient)) for rounds in laws)
        words = {"slopes": str(clients.slopes), "expected_size": str(m), "R": first.local_steps, "K": K}
        return at_most(Fraction(squares) / K, Fraction(bound(K, **known)), instance=words)

    return check


dsgd_average = claim(
    "optimal-client-sampling:theorem-15-two-rounds",
    "E |grad f|^2, averaged over one or two rounds of DSGD on tilted wells, against Theorem 15 summed over rounds",
    ocs.dsgd_average_gradient,
    instances=(10, 100),
    looseness=1.01,
)(against_average(ocs.dsgd_average_gradient, 1))

fedavg_average = claim(
    "optimal-client-sampling:theorem-18-two-rounds",
    "E |grad f|^2, averaged over one or two rounds of FedAvg on tilted wells, against Theorem 18 summed over rounds",
    ocs.fedavg_average_gradient,
    instances=(10, 100),
    looseness=16,
    remark="for step sizes up to 1/(16 L) and few rounds, the initial gap divided by K eta dominates the bound",
)(against_average(ocs.fedavg_average_gradient, 2))


@claim(
    "optimal-client-sampling:contraction-mean-of-gamma",
    "Theorem 13, expected over rounds with random gamma^k, holds with 1/E[gamma^k] in place of E[1/gamma^k]",
    Statement(FEDTHEORY, "expected over rounds, with 1/E[gamma^k]", related=(ocs.PAPER, "Theorem 13"), form="variant"),
    "refuted conjecture",
    remark="each round draws a new budget; for a fixed budget no counterexample with optimal sampling is known",
)
def contraction_mean_of_gamma() -> Finding:
    # From x* = 0, a coin decides whether both opposite clients are sampled (gamma = 1) or one on average (1/2).
    fed, eta, half = opposite_clients(), Fraction(1, 4), Fraction(1, 2)
    laws = [uniform_law(p) for p in vector(1, half)]
    rounds = Law.uniform(SampledRound(fed.gradient, fed.weights, fed.minimizer, law, eta) for law in laws)
    known = {"step_size": eta, "mu": Fraction(1), "L": Fraction(1), "smallest_gamma": half, "max_weight": half}
    known |= {"sum_squared_weights": half, "relative_noise": Fraction(0), "sigma2": Fraction(0)}
    known |= {"objective_gap": fed.objective_gap, "mean_inverse_gamma": 1 / rounds.mean(lambda each: each.gamma)}
    measured = Fraction(rounds.mean(lambda each: distance2_after(each, fed.minimizer)))
    words = {"clients": "(x - 1)^2/2, (x + 1)^2/2", "x": "0 = x*", "p": "1 or 1/2, by a coin", "step_size": "1/4"}
    return at_most(measured, ocs.dsgd_contraction(Fraction(0), **known), instance=words)
