"""Optimal Client Sampling, Remarks 14, 16, 19: between full and uniform participation; Algorithm 3 with one step."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.claims.optimal_client_sampling._checks import standing
from fedtheory.rational._round_draws import draw_phi_round, draw_quadratic_round
from fedtheory.rational._sampled_rounds import LocalPath, SampledRound, inverse_estimate, uniform_law
from fedtheory.rational.draws import draw_shares, whole
from fedtheory.rational.vectors import Vector, combination, difference, norm2, scaled
from fedtheory.sampling.selections import independent
from fedtheory.statistics.law import Law
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to, not_applicable, worst_of

_ROUND = ("local_steps", "server_step_size")


def ordered(values: list[Fraction], instance: dict[str, Any]) -> Finding:
    """Compare each with the next."""
    return worst_of(at_most(Fraction(low), Fraction(high), instance=instance) for low, high in pairwise(values))


def sides(bound: Callable[..., Any], gamma: Fraction, share: Fraction) -> list[Fraction]:
    """Right sides for gamma = 1, for the gamma of a round, and for a smaller one."""
    return [bound(gamma=at) for at in (Fraction(1), gamma, share * gamma)]


@claim(
    "optimal-client-sampling:remark-14",
    "Theorem 13 for M = 0 and gamma = 1 in every round is (21), the recursion of full participation",
    Statement(ocs.PAPER, "Remark 14", "eq. (21)"),
    "identity",
)
def remark_14(rng: np.random.Generator) -> Finding:
    mu, kappa = Fraction(2) ** whole(rng, -2, 2), whole(rng, 1, 4)
    weights = draw_shares(rng, whole(rng, 1, 4))
    known: dict[str, Any] = {
        "step_size": Fraction(whole(rng, 1, 8), 8) / (kappa * mu),
        "mu": mu,
        "L": kappa * mu,
        "sum_squared_weights": norm2(weights),
        "sigma2": Fraction(whole(rng, 0, 8), 4),
    }
    distance2, gap = Fraction(whole(rng, 0, 8), 4), Fraction(whole(rng, 0, 8), 4)
    best: dict[str, Any] = {
        "smallest_gamma": 1,
        "mean_inverse_gamma": 1,
        "max_weight": max(weights),
        "relative_noise": 0,
    }
    mine = ocs.dsgd_contraction(distance2, **known, **best, objective_gap=gap)
    words = {name: str(value) for name, value in known.items()}
    return equal_to(mine, ocs.full_participation(distance2, **known), instance=words)


@claim(
    "optimal-client-sampling:remark-14-uniform",
    "uniform sampling has gamma = m/n, the worst case of Definition 11, for all updates",
    Statement(ocs.PAPER, "Remark 14 and Definition 11"),
    "identity",
    hypotheses=("some update is not zero",),
)
def remark_14_uniform(rng: np.random.Generator) -> Finding:
    drawn, _, instance = draw_quadratic_round(rng, longest_round=2)
    share = Fraction(whole(rng, 1, 8), 8)
    drawn = replace(drawn, law=uniform_law(share))
    if not drawn.squared_weight_update2:
        return not_applicable("all updates are zero", **instance)
    return equal_to(drawn.gamma, share, instance={**instance, "law": f"uniform, {share} of all"})


@claim(
    "optimal-client-sampling:remark-14-between",
    "the right side of Theorem 13 falls in gamma: that of a round is between full and uniform participation",
    Statement(ocs.PAPER, "Remark 14", form="derived"),
    looseness=1.01,
)
def remark_14_between(rng: np.random.Generator) -> Finding:
    drawn, fed, instance = draw_quadratic_round(rng)
    known, share = standing(drawn, fed), Fraction(whole(rng, 1, 4), 4)
    gamma = known.pop("gamma")
    bound = partial(ocs.dsgd_strongly_convex, **known, objective_gap=fed.objective_gap)
    return ordered(sides(bound, gamma, share), instance)


@claim(
    "optimal-client-sampling:remark-16",
    "the right side of Theorem 15 falls in gamma: that of a round is between full and uniform participation",
    Statement(ocs.PAPER, "Remark 16", form="derived"),
    looseness=1.01,
)
def remark_16(rng: np.random.Generator) -> Finding:
    drawn, clients, instance = draw_phi_round(rng)
    bound = partial(
        ocs.dsgd_nonconvex,
        clients.value(drawn.model),
        gradient2=norm2(combination(clients.weights, drawn.gradients())),
        step_size=drawn.step_size,
        L=clients.smoothness,
        dissimilarity=clients.dissimilarity,
        **drawn.constants,
    )
    return ordered(sides(bound, drawn.gamma, Fraction(whole(rng, 1, 4), 4)), instance)


@claim(
    "optimal-client-sampling:remark-19",
    "the right sides of Theorems 17 and 18 fall in gamma: those of a round are between full and uniform participation",
    Statement(ocs.PAPER, "Remark 19", form="derived"),
    looseness=1.01,
)
def remark_19(rng: np.random.Generator) -> Finding:
    drawn, fed, instance = draw_quadratic_round(rng, longest_round=3)
    share = Fraction(whole(rng, 1, 4), 4)
    known = {**standing(drawn, fed), "mu": fed.strong_convexity, "step_size": share * drawn.step_size}
    gamma, steps = known.pop("gamma"), {name: getattr(drawn, name) for name in _ROUND}
    convex = partial(ocs.fedavg_strongly_convex, **known, **steps, objective_gap=fed.objective_gap)
    wells, clients, words = draw_phi_round(rng, longest_round=2)
    nonconvex = partial(
        ocs.fedavg_nonconvex,
        clients.value(wells.model),
        gradient2=norm2(combination(clients.weights, wells.gradients())),
        step_size=share * wells.step_size,
        L=clients.smoothness,
        dissimilarity=clients.dissimilarity,
        **{name: getattr(wells, name) for name in _ROUND},
        **wells.constants,
    )
    return worst_of(
        [ordered(sides(convex, gamma, share), instance), ordered(sides(nonconvex, wells.gamma, share), words)]
    )


def algorithm_3(drawn: SampledRound) -> Law[Vector]:
    """Law of the server's next model, written from the local models: ``x - eta_g sum_{i in S} w_i/p_i (x - y_i)``."""

    def following(joint: tuple[LocalPath, ...]) -> Law[Vector]:
        moved = tuple(
            scaled(w, difference(drawn.model, path.model)) for w, path in zip(drawn.weights, joint, strict=True)
        )
        p = tuple(drawn.law(moved))
        steps = independent(p).map(lambda chosen: inverse_estimate(moved, p, chosen))
        return steps.map(lambda step: difference(drawn.model, scaled(drawn.server_step_size, step)))

    return Law.product(*drawn.clients).then(following)


@claim(
    "optimal-client-sampling:algorithm-3",
    "Algorithm 3 is the round of Theorems 17 and 18 for eta = R eta_l eta_g, and for R = 1 it is DSGD, path by path",
    Statement(ocs.PAPER, "Algorithm 3"),
    "identity",
    instances=(8, 100),
)
def algorithm_3_is_dsgd(rng: np.random.Generator) -> Finding:
    drawn, _, instance = draw_quadratic_round(rng, longest_round=2)
    others = [drawn] if drawn.local_steps > 1 else [drawn, replace(drawn, server_step_size=Fraction(1))]
    mine = algorithm_3(drawn)
    return worst_of(
        equal_to(
            sum(abs(mine.get(x, 0) - other.models.get(x, 0)) for x in {*mine, *other.models}),
            Fraction(0),
            instance=instance,
        )
        for other in others
    )
