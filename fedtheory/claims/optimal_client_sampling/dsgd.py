"""Optimal Client Sampling: Theorems 13 and 15 for DSGD, one round followed exactly, and the false variant of 13."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.claims._instances import draw_model, whole
from fedtheory.claims._sampled_draws import draw_phi_round, draw_quadratic_round, everybody, optimal_law
from fedtheory.claims._sampled_rounds import SampledRound
from fedtheory.paper import Bound
from fedtheory.verification.claim import FAILS, Claim, Finding, at_most, equal_to, worst_of
from fedtheory.verification.rational import RationalQuadratics, Vector, combination, difference, norm2, vector

__all__ = [
    "DSGD_NONCONVEX",
    "DSGD_SECOND_MOMENT",
    "DSGD_STRONGLY_CONVEX",
    "FULL_PARTICIPATION",
    "PER_CLIENT_VARIANT",
    "STRONGLY_CONVEX_ATTAINED",
    "STRONGLY_CONVEX_CLIENTS",
    "TWO_ROUNDS",
]


def hypotheses(bound: Bound) -> tuple[str, ...]:
    """Hypotheses of a bound, in words."""
    return tuple(hypothesis.text for hypothesis in bound.hypotheses)


def squared_weight(weights: Vector, gradients: tuple[Vector, ...]) -> Fraction:
    """``sum_i w_i^2 |g_i|^2``."""
    return sum((w * w * norm2(g) for w, g in zip(weights, gradients, strict=True)), start=Fraction(0))


def landing(drawn: SampledRound, fed: RationalQuadratics) -> Fraction:
    """``E |x+ - x*|^2``."""
    return Fraction(drawn.expected(lambda x: norm2(difference(x, fed.minimizer))))


def standing(drawn: SampledRound, fed: RationalQuadratics) -> dict[str, Any]:
    """Collect what the one-round bounds of Theorem 13 take."""
    return {
        "distance2": norm2(difference(drawn.model, fed.minimizer)),
        "gap": fed.gap(drawn.model),
        "step_size": drawn.step_size,
        # Only f needs to be strongly convex, and it may be more so than its clients.
        "mu": min(combination(fed.weights, fed.curvatures)),
        "L": fed.smoothness,
        "gamma": drawn.gamma,
        **drawn.constants,
    }


def _second_moment(rng: np.random.Generator) -> Finding:
    drawn, fed, instance = draw_quadratic_round(rng)
    gradients = drawn.gradients()
    predicted = ocs.dsgd_second_moment(
        squared_weight_gradient2=squared_weight(fed.weights, gradients),
        gradient2=norm2(combination(fed.weights, gradients)),
        gamma=drawn.gamma,
        **drawn.constants,
    )
    return equal_to(drawn.second_moment, predicted, instance=instance)


DSGD_SECOND_MOMENT = Claim(
    key="optimal-client-sampling:second-moment-dsgd",
    title="E |G|^2 <= ((1 + M)/gamma - 1) sum_i w_i^2 |grad f_i|^2 + |grad f|^2 + sigma2 S2/gamma, attained",
    statement=ocs.dsgd_second_moment.statement,
    kind="identity",
    check=_second_moment,
    hypotheses=(*hypotheses(ocs.dsgd_second_moment), "Assumption 7 holds with equality"),
    bound=ocs.dsgd_second_moment,
)


def _strongly_convex(rng: np.random.Generator) -> Finding:
    drawn, fed, instance = draw_quadratic_round(rng)
    predicted = ocs.dsgd_strongly_convex(**standing(drawn, fed), objective_gap=fed.objective_gap)
    return at_most(landing(drawn, fed), predicted, instance=instance)


DSGD_STRONGLY_CONVEX = Claim(
    key="optimal-client-sampling:theorem-13",
    title="one round of DSGD, f strongly convex, any step size: E |r+|^2 is at most the right side of (20)",
    statement=ocs.dsgd_strongly_convex.statement,
    kind="inequality",
    check=_strongly_convex,
    hypotheses=hypotheses(ocs.dsgd_strongly_convex),
    bound=ocs.dsgd_strongly_convex,
)


def _attained(rng: np.random.Generator) -> Finding:
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


STRONGLY_CONVEX_ATTAINED = Claim(
    key="optimal-client-sampling:theorem-13-attained",
    title="(20) is an equality for equal weights and curvatures, everybody sampled and noise with equality",
    statement=ocs.dsgd_strongly_convex.statement,
    kind="identity",
    check=_attained,
    hypotheses=("f_i = L/2 |x - c_i|^2, w_i = 1/n, p_i = 1", "Assumption 7 holds with equality"),
    bound=ocs.dsgd_strongly_convex,
)


def _convex_clients(rng: np.random.Generator) -> Finding:
    drawn, fed, instance = draw_quadratic_round(rng)
    at_optimum = tuple(fed.gradient(k, fed.minimizer) for k in range(fed.num_clients))
    predicted = ocs.dsgd_convex_clients(
        **standing(drawn, fed), squared_weight_optimum_gradient2=squared_weight(fed.weights, at_optimum)
    )
    return at_most(landing(drawn, fed), predicted, instance=instance)


STRONGLY_CONVEX_CLIENTS = Claim(
    key="optimal-client-sampling:theorem-13-convex-clients",
    title="Theorem 13 with the squared weights kept, sum_i w_i^2 |grad f_i(x*)|^2, for convex clients",
    statement=ocs.dsgd_convex_clients.statement,
    kind="inequality",
    check=_convex_clients,
    hypotheses=hypotheses(ocs.dsgd_convex_clients),
    bound=ocs.dsgd_convex_clients,
)


def _full_participation(rng: np.random.Generator) -> Finding:
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


FULL_PARTICIPATION = Claim(
    key="optimal-client-sampling:equation-21",
    title="with everybody sampled, E |r+|^2 <= (1 - mu eta) |r|^2 + eta^2 sigma2 sum_i w_i^2",
    statement=ocs.full_participation.statement,
    kind="inequality",
    check=_full_participation,
    hypotheses=hypotheses(ocs.full_participation),
    bound=ocs.full_participation,
)


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
    gaps = [fed.excess(k, fed.minimizer) for k in range(fed.num_clients)]
    per_client = sum((w * w * gap for w, gap in zip(fed.weights, gaps, strict=True)), start=Fraction(0))
    return Fraction(ocs.dsgd_per_client_variant(**standing(drawn, fed), per_client_gap=per_client))


def _per_client(_: np.random.Generator) -> Finding:
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


PER_CLIENT_VARIANT = Claim(
    key="optimal-client-sampling:theorem-13-per-client",
    title="the variant of Theorem 13 with sum_i w_i^2 Z_i in the place of W sum_i w_i Z_i, unequal weights",
    statement=ocs.dsgd_per_client_variant.statement,
    kind="erratum",
    check=_per_client,
    expected=FAILS,
    hypotheses=hypotheses(ocs.dsgd_per_client_variant),
    instances=(1, 1),
    remark="f_i(x) - f_i(x*) has a sign; with equal weights the variant is Theorem 13 itself",
    bound=ocs.dsgd_per_client_variant,
)


def _two_rounds(rng: np.random.Generator) -> Finding:
    one, budget = Fraction(1), Fraction(whole(rng, 1, 4), 2)
    sizes = [whole(rng, 1, 5) for _ in range(2)]
    weights = tuple(Fraction(size, sum(sizes)) for size in sizes)
    curvatures = tuple((Fraction(2) ** whole(rng, -1, 1),) for _ in weights)
    fed = RationalQuadratics(curvatures, tuple(draw_model(rng, 1) for _ in weights), weights, (0 * one, 0 * one))
    noise = Fraction(whole(rng, 0, 2), 2)
    step_size = budget / 2 / ((1 + max(weights) * noise**2) * fed.smoothness) * Fraction(whole(rng, 1, 4), 4)
    first = SampledRound(fed.gradient, weights, draw_model(rng, 1), optimal_law(budget), step_size, noise_factor=noise)
    bound, distance2 = norm2(difference(first.model, fed.minimizer)), Fraction(0)
    law = {first.model: one}
    for _ in range(2):
        rounds = [
            (chance, SampledRound(fed.gradient, weights, x, first.law, step_size, noise_factor=noise))
            for x, chance in law.items()
        ]
        bound = ocs.dsgd_contraction(
            bound,
            mean_inverse_gamma=sum(chance / each.gamma for chance, each in rounds),
            smallest_gamma=budget / 2,
            step_size=step_size,
            mu=min(combination(weights, curvatures)),
            L=fed.smoothness,
            objective_gap=fed.objective_gap,
            **first.constants,
        )
        distance2 = sum((chance * landing(each, fed) for chance, each in rounds), start=Fraction(0))
        law = _mixed(rounds)
    return at_most(distance2, bound, instance={"weights": str(weights), "expected_size": str(budget)})


def _mixed(rounds: list[tuple[Fraction, SampledRound]]) -> dict[Vector, Fraction]:
    law: dict[Vector, Fraction] = {}
    for chance, each in rounds:
        for model, probability in each.models().items():
            law[model] = law.get(model, Fraction(0)) + chance * probability
    return law


TWO_ROUNDS = Claim(
    key="optimal-client-sampling:theorem-13-two-rounds",
    title="Theorem 13 applied twice with E[1/gamma^k] bounds E |r|^2 after two rounds of DSGD with optimal sampling",
    statement=ocs.dsgd_contraction.statement,
    kind="inequality",
    check=_two_rounds,
    hypotheses=hypotheses(ocs.dsgd_contraction),
    bound=ocs.dsgd_contraction,
)


def _nonconvex(rng: np.random.Generator) -> Finding:
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
    return at_most(Fraction(drawn.expected(clients.value)), Fraction(predicted), instance=instance)


DSGD_NONCONVEX = Claim(
    key="optimal-client-sampling:theorem-15",
    title="one round of DSGD, non-convex clients, any step size: E f(x+) is at most the right side of (24)",
    statement=ocs.dsgd_nonconvex.statement,
    kind="inequality",
    check=_nonconvex,
    hypotheses=hypotheses(ocs.dsgd_nonconvex),
    bound=ocs.dsgd_nonconvex,
)
