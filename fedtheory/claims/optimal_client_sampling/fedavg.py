"""Optimal Client Sampling: FedAvg (Lemma 21, Theorems 17, 18, Algorithm 3), between full and uniform participation."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.claims._comparisons import as_texts, ascending
from fedtheory.claims.optimal_client_sampling._checks import distance2_after, round_constants, squared_weight
from fedtheory.rational._run_draws import draw_phi_round, draw_quadratic_round
from fedtheory.rational._sampled_rounds import LocalUpdate, SampledRound, everybody, inverse_estimate, uniform_law
from fedtheory.rational.draws import draw_shares, whole
from fedtheory.rational.vectors import Vector, combination, difference, inner, norm2, scaled, vector
from fedtheory.sampling.cohorts import independent
from fedtheory.statistics.law import Law
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to, not_applicable, worst_of

_ROUND = ("local_steps", "server_step_size")


def sides(bound: Callable[..., Any], gamma: Fraction, share: Fraction) -> list[Fraction]:
    """Right sides for gamma = 1, for the gamma of a round, and for a smaller one."""
    return [Fraction(bound(gamma=at)) for at in (Fraction(1), gamma, share * gamma)]


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
    words = as_texts(known)
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
    known, share = round_constants(drawn, fed), Fraction(whole(rng, 1, 4), 4)
    gamma = known.pop("gamma")
    bound = partial(ocs.dsgd_strongly_convex, **known, objective_gap=fed.objective_gap)
    return ascending(sides(bound, gamma, share), instance)


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
    return ascending(sides(bound, drawn.gamma, Fraction(whole(rng, 1, 4), 4)), instance)


@claim(
    "optimal-client-sampling:remark-19",
    "the right sides of Theorems 17 and 18 fall in gamma: those of a round are between full and uniform participation",
    Statement(ocs.PAPER, "Remark 19", form="derived"),
    looseness=1.01,
)
def remark_19(rng: np.random.Generator) -> Finding:
    drawn, fed, instance = draw_quadratic_round(rng, longest_round=3)
    share = Fraction(whole(rng, 1, 4), 4)
    known = {**round_constants(drawn, fed), "mu": fed.strong_convexity, "step_size": share * drawn.step_size}
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
        [ascending(sides(convex, gamma, share), instance), ascending(sides(nonconvex, wells.gamma, share), words)]
    )


def algorithm_3(drawn: SampledRound) -> Law[Vector]:
    """Law of the server's next model, written from the local models: ``x - eta_g sum_{i in S} w_i/p_i (x - y_i)``."""

    def following(joint: tuple[LocalUpdate, ...]) -> Law[Vector]:
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


_LONGEST = 3


def _round_constants(drawn: SampledRound) -> dict[str, Any]:
    return {"local_steps": drawn.local_steps, "server_step_size": drawn.server_step_size}


def _quadratic(rng: np.random.Generator, curvature: Fraction, x: Fraction, y: Fraction, z: Fraction) -> Finding:
    # h(t) = a t^2 / 2 with mu <= a <= L.
    mu, L = curvature * Fraction(whole(rng, 0, 4), 4), curvature * Fraction(whole(rng, 4, 8), 4)
    lower = ocs.perturbed_inner_product(
        curvature * (z * z - y * y) / 2, distance2=(y - z) ** 2, displacement2=(z - x) ** 2, mu=mu, L=L
    )
    # Both sides of (35) may be negative, so what is compared is how much must be given away with how much is.
    given = L * (z - x) ** 2
    needed = lower + given - curvature * x * (z - y)
    return at_most(needed, given, instance={"h": f"{curvature} t^2/2", "x, y, z": f"{x}, {y}, {z}"})


@claim(
    "optimal-client-sampling:lemma-21",
    "<grad h(x), z - y> >= h(z) - h(y) + mu/4 |y - z|^2 - L |z - x|^2",
    ocs.perturbed_inner_product,
    instances=(100, 4000),
    looseness=1.01,
)
def lemma_21(rng: np.random.Generator) -> Finding:
    x, y, z = (Fraction(whole(rng, -20, 20), 4) for _ in range(3))
    return _quadratic(rng, Fraction(2) ** whole(rng, -2, 2), x, y, z)


@claim(
    "optimal-client-sampling:lemma-21-attained",
    "(35) is an equality for h = L t^2/2 and x in the middle between y and z",
    ocs.perturbed_inner_product,
    "identity",
    hypotheses=("h = L t^2/2, mu = L, x = (y + z)/2",),
)
def lemma_21_attained(rng: np.random.Generator) -> Finding:
    y, z = (Fraction(whole(rng, -20, 20), 4) for _ in range(2))
    x, a = (y + z) / 2, Fraction(2) ** whole(rng, -2, 2)
    lower = ocs.perturbed_inner_product(
        a * (z * z - y * y) / 2, distance2=(y - z) ** 2, displacement2=(z - x) ** 2, mu=a, L=a
    )
    return equal_to(a * x * (z - y), lower, instance={"h": f"{a} t^2/2", "y, z": f"{y}, {z}"})


@claim(
    "optimal-client-sampling:drift",
    "drift <= 7/8 (1 - 1/R) (eta/eta_g)^2 (2 (1 + M/R) sum_i w_i |grad f_i|^2 + sigma2/R)",
    ocs.client_drift,
    looseness=2,
)
def drift(rng: np.random.Generator) -> Finding:
    drawn, clients, instance = draw_phi_round(rng, longest_round=_LONGEST)
    mean = inner(clients.weights, [norm2(g) for g in drawn.gradients()])
    predicted = ocs.client_drift(
        mean,
        step_size=drawn.step_size,
        L=clients.smoothness,
        relative_noise=drawn.noise_factor**2,
        sigma2=drawn.noise_length**2,
        **_round_constants(drawn),
    )
    return at_most(drawn.drift, Fraction(predicted), instance=instance)


@claim(
    "optimal-client-sampling:second-moment",
    "E |G|^2 = (1/gamma - 1) sum_i w_i^2 E |Delta_i|^2 + E |sum_i w_i Delta_i|^2, over all sets and noise paths",
    ocs.estimator_second_moment,
    "identity",
    hypotheses=("clients are sampled independently given the updates",),
)
def second_moment_identity(rng: np.random.Generator) -> Finding:
    drawn, _, instance = draw_phi_round(rng, longest_round=_LONGEST)
    predicted = ocs.estimator_second_moment(
        squared_weight_update2=drawn.squared_weight_update2, mean_update2=drawn.mean_update2, gamma=drawn.gamma
    )
    return equal_to(drawn.second_moment, predicted, instance=instance)


@claim(
    "optimal-client-sampling:second-moment-fedavg",
    "the second moment of FedAvg's G, with local noise and local gradients correlated",
    ocs.fedavg_second_moment,
    looseness=1.5,
)
def fedavg_second_moment(rng: np.random.Generator) -> Finding:
    drawn, clients, instance = draw_phi_round(rng, longest_round=_LONGEST)
    gradients = drawn.gradients()
    predicted = ocs.fedavg_second_moment(
        drawn.drift,
        squared_weight_gradient2=squared_weight(clients.weights, gradients),
        gradient2=norm2(combination(clients.weights, gradients)),
        gamma=drawn.gamma,
        local_steps=drawn.local_steps,
        L=clients.smoothness,
        **drawn.constants,
    )
    return at_most(drawn.second_moment, Fraction(predicted), instance=instance)


def concave_client() -> SampledRound:
    """One client -x^2/2, two local steps of 1/10 from x = 1, noise of variance 1."""
    return SampledRound(
        lambda _, w: tuple(-x for x in w),
        vector(1),
        vector(1),
        everybody,
        step_size=Fraction(1, 5),
        local_steps=2,
        noise_length=Fraction(1),
    )


@claim(
    "optimal-client-sampling:uncorrelated-noise",
    "E |h_i + zeta_i|^2 <= E |h_i|^2 + E |zeta_i|^2 for the means of local gradients and of local noise",
    Statement(ocs.PAPER, "Theorems 17 and 18", "a tempting step of their proofs", form="variant"),
    "refuted conjecture",
    hypotheses=("f_i is L-smooth, possibly non-convex",),
)
def uncorrelated_noise() -> Finding:
    (paths,) = concave_client().clients
    apart = paths.mean(lambda path: norm2(path.mean_gradient) + norm2(difference(path.update, path.mean_gradient)))
    together = paths.mean(lambda path: norm2(path.update))
    return at_most(Fraction(together), Fraction(apart), instance={"f": "-x^2/2", "R": 2, "eta_l": "1/10", "x": 1})


@claim(
    "optimal-client-sampling:theorem-17",
    "one round of FedAvg, strongly convex clients",
    ocs.fedavg_strongly_convex,
    looseness=1.01,
)
def fedavg_strongly_convex(rng: np.random.Generator) -> Finding:
    drawn, fed, instance = draw_quadratic_round(rng, longest_round=_LONGEST)
    known = {**round_constants(drawn, fed), "mu": fed.strong_convexity, "objective_gap": fed.objective_gap}
    predicted = ocs.fedavg_strongly_convex(**known, **_round_constants(drawn))
    return at_most(distance2_after(drawn, fed), Fraction(predicted), instance=instance)


@claim(
    "optimal-client-sampling:theorem-17-per-client",
    "one round of FedAvg, strongly convex clients, with sum_i w_i^2 Z_i",
    ocs.fedavg_strongly_convex_per_client,
    looseness=1.01,
)
def per_client(rng: np.random.Generator) -> Finding:
    drawn, fed, instance = draw_quadratic_round(rng, longest_round=_LONGEST)
    known = {**round_constants(drawn, fed), "mu": fed.strong_convexity, "objective_gap": fed.objective_gap}
    predicted = ocs.fedavg_strongly_convex_per_client(
        **known,
        **_round_constants(drawn),
        per_client_gap=inner([w * w for w in fed.weights], fed.excesses(fed.minimizer)),
    )
    return at_most(distance2_after(drawn, fed), Fraction(predicted), instance=instance)


@claim(
    "optimal-client-sampling:theorem-17-convex-clients",
    "one round of FedAvg, convex clients (one without curvature along a coordinate), f strongly convex",
    ocs.fedavg_convex_clients,
    looseness=1.01,
)
def convex_clients(rng: np.random.Generator) -> Finding:
    drawn, fed, instance = draw_quadratic_round(rng, longest_round=_LONGEST, flat=True)
    known = {**round_constants(drawn, fed), "objective_gap": fed.objective_gap}
    predicted = ocs.fedavg_convex_clients(**known, **_round_constants(drawn))
    return at_most(distance2_after(drawn, fed), Fraction(predicted), instance=instance)


@claim(
    "optimal-client-sampling:theorem-18",
    "one round of FedAvg, non-convex clients",
    ocs.fedavg_nonconvex,
    instances=(10, 100),
    looseness=1.01,
)
def fedavg_nonconvex(rng: np.random.Generator) -> Finding:
    # phi after two steps is a ratio of numbers with hundreds of digits already.
    drawn, clients, instance = draw_phi_round(rng, longest_round=2)
    predicted = ocs.fedavg_nonconvex(
        clients.value(drawn.model),
        gradient2=norm2(combination(clients.weights, drawn.gradients())),
        step_size=drawn.step_size,
        L=clients.smoothness,
        gamma=drawn.gamma,
        dissimilarity=clients.dissimilarity,
        **_round_constants(drawn),
        **drawn.constants,
    )
    return at_most(Fraction(drawn.models.mean(clients.value)), Fraction(predicted), instance=instance)
