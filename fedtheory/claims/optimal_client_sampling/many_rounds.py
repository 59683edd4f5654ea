"""Optimal Client Sampling over several rounds, and means of alpha and of gamma that must not be taken."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.claims.optimal_client_sampling._checks import distance2_after
from fedtheory.rational._sampled_rounds import SampledRound, everybody, optimal_law, uniform_law
from fedtheory.rational._wells import PhiClients
from fedtheory.rational.draws import draw_model, draw_shares, pick, whole
from fedtheory.rational.quadratics import RationalQuadratics, opposite_clients
from fedtheory.rational.vectors import Vector, combination, difference, norm2, vector
from fedtheory.sampling.variances import variance
from fedtheory.statistics.law import Law
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, worst_of

_SERVER = Fraction(2)


def draw_pair(rng: np.random.Generator) -> RationalQuadratics:
    """Draw two quadratics on the line."""
    weights = draw_shares(rng, 2)
    curvatures = tuple((Fraction(2) ** whole(rng, -1, 1),) for _ in weights)
    return RationalQuadratics(curvatures, tuple(draw_model(rng, 1) for _ in weights), weights, vector(0, 0))


def rounds_from(first: SampledRound, count: int) -> list[Law[SampledRound]]:
    """Return the law of each of some rounds; they differ in the model that they start from."""
    laws = [Law.certain(first)]
    for _ in range(count - 1):
        laws.append(laws[-1].then(lambda each: each.models).map(lambda x: replace(first, model=x)))
    return laws


def mean_inverse_gamma(rounds: Law[SampledRound]) -> Fraction:
    """``E[1/gamma^k]``."""
    return Fraction(rounds.mean(lambda each: 1 / each.gamma))


@claim(
    "optimal-client-sampling:equation-22",
    "with everybody sampled, E |r^K|^2 <= (1 - mu eta)^K |r^0|^2 + eta sigma2/mu sum_i w_i^2 after up to three rounds",
    ocs.full_participation_distance,
    looseness=1.01,
)
def equation_22(rng: np.random.Generator) -> Finding:
    fed, noise = draw_pair(rng), Fraction(whole(rng, 0, 2), 2)
    model = fed.minimizer if whole(rng, 0, 1) else draw_model(rng, 1)
    step_size = Fraction(whole(rng, 1, 4), 4) / fed.smoothness
    first = SampledRound(fed.gradient, fed.weights, model, everybody, step_size, noise_length=noise)
    findings = []
    for number, rounds in enumerate(rounds_from(first, 3), start=1):
        predicted = ocs.full_participation_distance(
            number,
            initial_distance2=norm2(difference(model, fed.minimizer)),
            step_size=step_size,
            mu=min(combination(fed.weights, fed.curvatures)),
            L=fed.smoothness,
            sum_squared_weights=norm2(fed.weights),
            sigma2=noise**2,
        )
        measured = Fraction(rounds.mean(lambda each: distance2_after(each, fed)))
        findings.append(at_most(measured, predicted, instance={"weights": str(fed.weights), "rounds": number}))
    return worst_of(findings)


class Start(NamedTuple):
    """A first round with optimal sampling, on clients and with a budget; ``K`` rounds are to be followed."""

    clients: Any
    budget: Fraction
    first: SampledRound
    K: int


def draw_fedavg(rng: np.random.Generator) -> Start:
    """Draw two rounds of FedAvg on two quadratics, with one or two local steps."""
    fed, budget = draw_pair(rng), Fraction(whole(rng, 1, 4), 2)
    R, noise = whole(rng, 1, 2), Fraction(whole(rng, 0, 2), 2)
    longest = min(1 / (2 + noise**2 / R), budget / 2 / (1 + max(fed.weights) * noise**2 / R)) / (8 * fed.smoothness)
    first = SampledRound(
        fed.gradient,
        fed.weights,
        fed.minimizer if whole(rng, 0, 1) else draw_model(rng, 1),
        optimal_law(budget),
        longest * Fraction(whole(rng, 1, 4), 4),
        local_steps=R,
        server_step_size=_SERVER,
        noise_factor=noise if R == 1 else Fraction(0),
    )
    return Start(fed, budget, first, 2)


@claim(
    "optimal-client-sampling:theorem-17-two-rounds",
    "Theorem 17 applied twice with E[1/gamma^k] bounds E |r|^2 after two rounds of FedAvg with optimal sampling",
    ocs.fedavg_contraction,
    instances=(10, 100),
    looseness=1.01,
)
def fedavg_two_rounds(rng: np.random.Generator) -> Finding:
    fed, budget, first, K = draw_fedavg(rng)
    bound, laws = norm2(difference(first.model, fed.minimizer)), rounds_from(first, K)
    for rounds in laws:
        bound = ocs.fedavg_contraction(
            bound,
            step_size=first.step_size,
            server_step_size=_SERVER,
            local_steps=first.local_steps,
            mu=min(combination(fed.weights, fed.curvatures)),
            L=fed.smoothness,
            smallest_gamma=budget / 2,
            mean_inverse_gamma=mean_inverse_gamma(rounds),
            objective_gap=fed.objective_gap,
            **first.constants,
        )
    measured = Fraction(laws[-1].mean(lambda each: distance2_after(each, fed)))
    words = {"weights": str(fed.weights), "expected_size": str(budget), "R": first.local_steps}
    return at_most(measured, bound, instance=words)


def draw_wells(rng: np.random.Generator) -> PhiClients:
    """Draw two tilted wells near whose bottom 0 the run starts; their mean has the infimum 0."""
    weights, tilt = draw_shares(rng, 2, largest=3), Fraction(whole(rng, 0, 4), 4)
    slopes = (tilt / weights[0], -tilt / weights[1])
    amplitude = Fraction(whole(rng, 1, 4), 2)
    return PhiClients((amplitude, amplitude), vector(0, 0), slopes, weights)


def draw_descent(rng: np.random.Generator, most_local_steps: int) -> Start:
    """Draw one or two rounds of DSGD, or of FedAvg if there may be several local steps, on two tilted wells."""
    clients, budget = draw_wells(rng), Fraction(whole(rng, 1, 4), 2)
    R, K = whole(rng, 1, most_local_steps), whole(rng, 1, 2)
    noise = Fraction(whole(rng, 0, 2) * (R == 1), 2)
    # The noise is additive: M = 0.
    longest = budget / 2 / clients.smoothness
    if most_local_steps > 1:
        longest = min(longest, 1 / (2 * clients.smoothness)) / 8
    first = SampledRound(
        clients.gradient,
        clients.weights,
        (Fraction(whole(rng, 0, 8), pick(rng, [4, 64])),),
        optimal_law(budget),
        longest * Fraction(whole(rng, 1, 4), 4),
        local_steps=R,
        server_step_size=_SERVER if most_local_steps > 1 else Fraction(1),
        noise_length=noise,
    )
    return Start(clients, budget, first, K)


def against_average(bound: Callable[..., Any], most_local_steps: int) -> Callable[[np.random.Generator], Finding]:
    """Make the check that compares ``E |grad f|^2``, averaged over one or two rounds, with a bound."""

    def check(rng: np.random.Generator) -> Finding:
        clients, budget, first, K = draw_descent(rng, most_local_steps)
        laws = rounds_from(first, K)
        steps = {"server_step_size": _SERVER, "local_steps": first.local_steps} if most_local_steps > 1 else {}
        predicted = bound(
            K,
            initial_gap=clients.value(first.model),
            step_size=first.step_size,
            L=clients.smoothness,
            smallest_gamma=budget / 2,
            mean_inverse_gamma=sum(map(mean_inverse_gamma, laws), start=Fraction(0)) / K,
            dissimilarity=clients.dissimilarity,
            **steps,
            **first.constants,
        )
        squares = [rounds.mean(lambda each: norm2(combination(clients.weights, each.gradients()))) for rounds in laws]
        words = {"slopes": str(clients.slopes), "expected_size": str(budget), "R": first.local_steps, "K": K}
        return at_most(Fraction(sum(squares)) / K, Fraction(predicted), instance=words)

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
    remark="with steps of at most 1/(16 L) the gap at the start, over K eta, is most of the bound for few rounds",
)(against_average(ocs.fedavg_average_gradient, 2))


@claim(
    "optimal-client-sampling:mean-of-alpha",
    "the variance by sampling is (alpha (n - m)/m) E sum_i t_i^2 with the mean of alpha over the updates",
    Statement(ocs.PAPER, "Definition 11", "eq. (15), its alpha averaged", form="variant"),
    "refuted conjecture",
    remark="alpha is a ratio of expectations",
)
def mean_of_alpha() -> Finding:
    # Norms (1, 1) or (1, 0), each with probability 1/2, and m = 1 of n = 2: alpha is 1 or 0.
    cases = (vector(1, 1), vector(1, 0))
    variances = [_variance(norms, optimal_law(Fraction(1))(tuple((t,) for t in norms))) for norms in cases]
    uniform = [_variance(norms, vector("1/2", "1/2")) for norms in cases]
    alpha = sum(least / even for least, even in zip(variances, uniform, strict=True)) / 2
    return at_most(sum(variances) / 2, alpha * sum(uniform) / 2, instance={"norms": "(1, 1) or (1, 0)", "m": 1, "n": 2})


def _variance(norms: Vector, probabilities: Vector) -> Fraction:
    return Fraction(variance(np.array(norms, dtype=object), np.array(probabilities, dtype=object)))


@claim(
    "optimal-client-sampling:mean-of-gamma",
    "over rounds that start from different models E |G|^2 is that of one gamma, the mean of theirs: 1/E[gamma^k]",
    Statement(ocs.PAPER, "Theorem 13", "over several rounds, with 1/E[gamma^k]", form="variant"),
    "refuted conjecture",
    remark="E[1/gamma^k] is larger, by Jensen's inequality",
)
def mean_of_gamma() -> Finding:
    # Weighted updates of lengths (1, 1) or (7/5, 1/5), whose squares sum to 2; m = 1 of n = 2: gamma = 1/2 or 25/32.
    rounds = Law.uniform([_two_updates(vector(1, 1)), _two_updates(vector("7/5", "1/5"))])
    predicted = ocs.estimator_second_moment(
        squared_weight_update2=rounds.mean(lambda each: each.squared_weight_update2),
        mean_update2=rounds.mean(lambda each: each.mean_update2),
        gamma=rounds.mean(lambda each: each.gamma),
    )
    measured = Fraction(rounds.mean(lambda each: each.second_moment))
    return at_most(measured, predicted, instance={"updates": "(1, 1) or (7/5, 1/5)", "m": 1, "n": 2})


def _two_updates(weighted: Vector) -> SampledRound:
    """Return a round of DSGD in which two clients of weight 1/2 have these weighted gradients."""
    return SampledRound(
        lambda client, _: (2 * weighted[client],),
        vector("1/2", "1/2"),
        vector(0),
        optimal_law(Fraction(1)),
        Fraction(1),
    )


@claim(
    "optimal-client-sampling:contraction-mean-of-gamma",
    "Theorem 13, expected over rounds in which gamma^k is random, holds with 1/E[gamma^k] for E[1/gamma^k]",
    Statement(ocs.PAPER, "Theorem 13", "expected over rounds, with 1/E[gamma^k]", form="variant"),
    "refuted conjecture",
    remark="the budget is drawn anew in each round; for a fixed one and optimal sampling no instance is known",
)
def contraction_mean_of_gamma() -> Finding:
    # From x* = 0 a coin decides whether both opposite clients are sampled (gamma = 1) or one is expected (1/2).
    fed, step_size = opposite_clients(), Fraction(1, 4)
    rounds = Law.uniform(
        SampledRound(fed.gradient, fed.weights, fed.minimizer, uniform_law(p), step_size) for p in vector(1, "1/2")
    )
    predicted = ocs.dsgd_contraction(
        Fraction(0),
        step_size=step_size,
        mu=Fraction(1),
        L=Fraction(1),
        smallest_gamma=Fraction(1, 2),
        mean_inverse_gamma=1 / rounds.mean(lambda each: each.gamma),
        max_weight=Fraction(1, 2),
        sum_squared_weights=Fraction(1, 2),
        relative_noise=Fraction(0),
        sigma2=Fraction(0),
        objective_gap=fed.objective_gap,
    )
    measured = Fraction(rounds.mean(lambda each: distance2_after(each, fed)))
    words = {"clients": "(x - 1)^2/2, (x + 1)^2/2", "x": "0 = x*", "p": "1 or 1/2, by a coin", "step_size": "1/4"}
    return at_most(measured, predicted, instance=words)
