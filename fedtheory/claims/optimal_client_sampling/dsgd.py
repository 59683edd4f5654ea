"""Optimal Client Sampling: Theorems 13 and 15 for DSGD, one round followed exactly, and the false variant of 13."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.claims.optimal_client_sampling._checks import landing, squared_weight, standing
from fedtheory.rational._round_draws import draw_phi_round, draw_quadratic_round
from fedtheory.rational._sampled_rounds import SampledRound, everybody, optimal_law
from fedtheory.rational.draws import draw_model, whole
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import combination, difference, inner, norm2, vector
from fedtheory.statistics.law import Law
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to, worst_of


@claim(
    "optimal-client-sampling:second-moment-dsgd",
    "E |G|^2 <= ((1 + M)/gamma - 1) sum_i w_i^2 |grad f_i|^2 + |grad f|^2 + sigma2 S2/gamma, attained",
    ocs.dsgd_second_moment,
    "identity",
    also=("Assumption 7 holds with equality",),
)
def dsgd_second_moment(rng: np.random.Generator) -> Finding:
    drawn, fed, instance = draw_quadratic_round(rng)
    gradients = drawn.gradients()
    predicted = ocs.dsgd_second_moment(
        squared_weight_gradient2=squared_weight(fed.weights, gradients),
        gradient2=norm2(combination(fed.weights, gradients)),
        gamma=drawn.gamma,
        **drawn.constants,
    )
    return equal_to(drawn.second_moment, predicted, instance=instance)


@claim(
    "optimal-client-sampling:theorem-13",
    "one round of DSGD, f strongly convex, any step size: E |r+|^2 is at most the right side of (20)",
    ocs.dsgd_strongly_convex,
    looseness=1.01,
)
def dsgd_strongly_convex(rng: np.random.Generator) -> Finding:
    drawn, fed, instance = draw_quadratic_round(rng)
    predicted = ocs.dsgd_strongly_convex(**standing(drawn, fed), objective_gap=fed.objective_gap)
    return at_most(landing(drawn, fed), predicted, instance=instance)


@claim(
    "optimal-client-sampling:theorem-13-attained",
    "(20) is an equality for equal weights and curvatures, everybody sampled and noise with equality",
    ocs.dsgd_strongly_convex,
    "identity",
    hypotheses=("f_i = L/2 |x - c_i|^2, w_i = 1/n, p_i = 1", "Assumption 7 holds with equality"),
)
def strongly_convex_attained(rng: np.random.Generator) -> Finding:
    num_clients, dim, curvature = whole(rng, 2, 3), whole(rng, 1, 2), Fraction(2) ** whole(rng, -2, 2)
    fed = RationalQuadratics(
        curvatures=((curvature,) * dim,) * num_clients,
        centers=tuple(draw_model(rng, dim) for _ in range(num_clients)),
        weights=(Fraction(1, num_clients),) * num_clients,
        minima=(Fraction(0),) * num_clients,
    )
    noise = Fraction(whole(rng, 0, 3), 2), Fraction(whole(rng, 0, 3), 2)
    step_size = Fraction(whole(rng, 1, 20), 10) / curvature
    drawn = SampledRound(
        fed.gradient,
        fed.weights,
        draw_model(rng, dim),
        everybody,
        step_size,
        noise_factor=noise[0],
        noise_length=noise[1],
    )
    predicted = ocs.dsgd_strongly_convex(**standing(drawn, fed), objective_gap=fed.objective_gap)
    return equal_to(landing(drawn, fed), predicted, instance={"step_size": str(step_size), "clients": num_clients})


@claim(
    "optimal-client-sampling:theorem-13-convex-clients",
    "Theorem 13 with the squared weights kept, sum_i w_i^2 |grad f_i(x*)|^2, for convex clients",
    ocs.dsgd_convex_clients,
    looseness=1.01,
)
def strongly_convex_clients(rng: np.random.Generator) -> Finding:
    drawn, fed, instance = draw_quadratic_round(rng)
    at_optimum = fed.gradients(fed.minimizer)
    predicted = ocs.dsgd_convex_clients(
        **standing(drawn, fed), squared_weight_optimum_gradient2=squared_weight(fed.weights, at_optimum)
    )
    return at_most(landing(drawn, fed), predicted, instance=instance)


@claim(
    "optimal-client-sampling:equation-21",
    "with everybody sampled, E |r+|^2 <= (1 - mu eta) |r|^2 + eta^2 sigma2 sum_i w_i^2",
    ocs.full_participation,
    looseness=1.01,
)
def full_participation(rng: np.random.Generator) -> Finding:
    drawn, fed, instance = draw_quadratic_round(rng)
    step_size = Fraction(whole(rng, 1, 8), 8) / fed.smoothness
    drawn = replace(drawn, law=everybody, noise_factor=Fraction(0), step_size=step_size)
    predicted = ocs.full_participation(
        norm2(difference(drawn.model, fed.minimizer)),
        step_size=step_size,
        mu=min(combination(fed.weights, fed.curvatures)),
        L=fed.smoothness,
        sum_squared_weights=norm2(fed.weights),
        sigma2=drawn.noise_length**2,
    )
    words = {"law": "everybody", "step_size": str(step_size), "relative_noise": "0"}
    return at_most(landing(drawn, fed), predicted, instance=instance | words)


def unequal_pair(
    model: str, step_size: str, *, law: Any = everybody, noise_factor: int = 1
) -> tuple[SampledRound, RationalQuadratics]:
    """Clients x^2/2 and (x - 1)^2/2 with weights 2/3 and 1/3, and a round of DSGD on them."""
    one = Fraction(1)
    fed = RationalQuadratics(((one,), (one,)), (vector(0), vector(1)), vector("2/3", "1/3"), vector(0, 0))
    drawn = SampledRound(
        fed.gradient, fed.weights, vector(model), law, Fraction(step_size), noise_factor=Fraction(noise_factor)
    )
    return drawn, fed


def variant(drawn: SampledRound, fed: RationalQuadratics) -> Fraction:
    """Right side of the variant of (20) with ``sum_i w_i^2 Z_i``."""
    gaps = fed.excesses(fed.minimizer)
    per_client = inner([w * w for w in fed.weights], gaps)
    return Fraction(ocs.dsgd_per_client_variant(**standing(drawn, fed), per_client_gap=per_client))


@claim(
    "optimal-client-sampling:theorem-13-per-client",
    "the variant of Theorem 13 with sum_i w_i^2 Z_i in the place of W sum_i w_i Z_i, unequal weights",
    ocs.dsgd_per_client_variant,
    "refuted conjecture",
    instances=(1, 1),
    remark="f_i(x) - f_i(x*) has a sign; with equal weights the variant is Theorem 13 itself",
)
def per_client_variant(_: np.random.Generator) -> Finding:
    instances = {
        "x = 1/2, eta = 1/10, M = 1, everybody sampled": unequal_pair("1/2", "1/10"),
        "x = 5/6, eta = 3/5 (the R^k term vanishes), M = 1, everybody sampled": unequal_pair("5/6", "3/5"),
        "x = 1/2, eta = 1/10, M = 0, one client expected": unequal_pair(
            "1/2", "1/10", law=optimal_law(Fraction(1)), noise_factor=0
        ),
    }
    return worst_of(
        at_most(landing(*pair), variant(*pair), instance={"clients": "x^2/2, (x-1)^2/2; w = 2/3, 1/3", "round": words})
        for words, pair in instances.items()
    )


@claim(
    "optimal-client-sampling:theorem-13-per-client-as-stated",
    "the variant of Theorem 13 with sum_i w_i^2 Z_i in the place of W sum_i w_i Z_i, any weights",
    ocs.dsgd_per_client_variant,
    "refuted conjecture",
    remark="f_i(x) - f_i(x*) has a sign; with equal weights the variant is Theorem 13 itself",
)
def per_client_variant_as_stated(rng: np.random.Generator) -> Finding:
    drawn, fed, instance = draw_quadratic_round(rng)
    return at_most(landing(drawn, fed), variant(drawn, fed), instance=instance)


@claim(
    "optimal-client-sampling:theorem-13-two-rounds",
    "Theorem 13 applied twice with E[1/gamma^k] bounds E |r|^2 after two rounds of DSGD with optimal sampling",
    ocs.dsgd_contraction,
    looseness=1.05,
)
def two_rounds(rng: np.random.Generator) -> Finding:
    one, budget = Fraction(1), Fraction(whole(rng, 1, 4), 2)
    sizes = [whole(rng, 1, 5) for _ in range(2)]
    weights = tuple(Fraction(size, sum(sizes)) for size in sizes)
    curvatures = tuple((Fraction(2) ** whole(rng, -1, 1),) for _ in weights)
    fed = RationalQuadratics(curvatures, tuple(draw_model(rng, 1) for _ in weights), weights, (0 * one, 0 * one))
    noise = Fraction(whole(rng, 0, 2), 2)
    step_size = budget / 2 / ((1 + max(weights) * noise**2) * fed.smoothness) * Fraction(whole(rng, 1, 4), 4)
    first = SampledRound(fed.gradient, weights, draw_model(rng, 1), optimal_law(budget), step_size, noise_factor=noise)
    bound, distance2 = norm2(difference(first.model, fed.minimizer)), Fraction(0)
    rounds = Law.certain(first)
    for number in range(2):
        bound = ocs.dsgd_contraction(
            bound,
            mean_inverse_gamma=rounds.mean(lambda each: 1 / each.gamma),
            smallest_gamma=budget / 2,
            step_size=step_size,
            mu=min(combination(weights, curvatures)),
            L=fed.smoothness,
            objective_gap=fed.objective_gap,
            **first.constants,
        )
        distance2 = rounds.mean(lambda each: landing(each, fed))
        if number == 0:
            rounds = rounds.then(lambda each: each.models).map(lambda x: replace(first, model=x))
    return at_most(distance2, bound, instance={"weights": str(weights), "expected_size": str(budget)})


@claim(
    "optimal-client-sampling:theorem-15",
    "one round of DSGD, non-convex clients, any step size: E f(x+) is at most the right side of (24)",
    ocs.dsgd_nonconvex,
    looseness=1.01,
)
def dsgd_nonconvex(rng: np.random.Generator) -> Finding:
    drawn, clients, instance = draw_phi_round(rng)
    predicted = ocs.dsgd_nonconvex(
        clients.value(drawn.model),
        gradient2=norm2(combination(clients.weights, drawn.gradients())),
        step_size=drawn.step_size,
        L=clients.smoothness,
        gamma=drawn.gamma,
        dissimilarity=clients.dissimilarity,
        **drawn.constants,
    )
    # Both sides from the infimum 0 of f up, so that their ratio means something.
    return at_most(Fraction(drawn.models.mean(clients.value)), Fraction(predicted), instance=instance)
