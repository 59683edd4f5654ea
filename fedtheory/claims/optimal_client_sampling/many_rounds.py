"""Optimal Client Sampling over several rounds, along every path of noise and sampling."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.claims.optimal_client_sampling._checks import landing
from fedtheory.rational._sampled_rounds import SampledRound, everybody, optimal_law
from fedtheory.rational._wells import PhiClients
from fedtheory.rational.draws import draw_model, draw_shares, pick, whole
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import combination, difference, norm2, vector
from fedtheory.statistics.law import Law
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
        measured = Fraction(rounds.mean(lambda each: landing(each, fed)))
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
    measured = Fraction(laws[-1].mean(lambda each: landing(each, fed)))
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
