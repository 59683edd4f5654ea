"""Optimal Client Sampling: FedAvg (Lemma 21, Theorems 17, 18, Algorithm 3), between full and uniform participation."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.claims._comparisons import Chain, compared, step
from fedtheory.claims.optimal_client_sampling._situations import (
    QuadraticRound,
    WellsRound,
    long_quadratic_round,
    long_wells_round,
    quadratic_round,
    squared_weight,
    steps_of,
    wells_round,
)
from fedtheory.instances.draws import draw_shares
from fedtheory.instances.sampled_rounds import LocalUpdate, SampledRound, full_law, inverse_estimate, uniform_law
from fedtheory.instances.vectors import Vector, inner, norm2, vector
from fedtheory.sampling.cohorts import independent
from fedtheory.statistics.law import Law
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import as_texts, whole
from fedtheory.theorem.findings import Finding, at_most, equal_to, not_applicable, worst_of
from fedtheory.theorem.paper import FEDTHEORY, Statement

source = partial(Statement, ocs.PAPER)


def falling(bound: Callable[..., Any], gamma: Fraction, share: Fraction) -> Chain:
    """Compare right-hand sides for gamma = 1, for the gamma of a round, and for a smaller one."""
    full, mine, uniform = (Fraction(bound(gamma=at)) for at in (Fraction(1), gamma, share * gamma))
    return full, "<=", mine, "<=", uniform


@claim(
    "optimal-client-sampling:remark-14",
    "Theorem 13 for M = 0 and gamma = 1 in every round is (21), the recursion of full participation",
    source("Remark 14", "eq. (21)"),
    "identity",
)
def remark_14(rng: np.random.Generator) -> Finding:
    mu, kappa = Fraction(2) ** whole(rng, -2, 2), whole(rng, 1, 4)
    weights = draw_shares(rng, whole(rng, 1, 4))
    eta = Fraction(whole(rng, 1, 8), 8) / (kappa * mu)
    known: dict[str, Any] = {"step_size": eta, "mu": mu, "L": kappa * mu, "sum_squared_weights": norm2(weights)}
    known["sigma2"] = Fraction(whole(rng, 0, 8), 4)
    distance2, gap = Fraction(whole(rng, 0, 8), 4), Fraction(whole(rng, 0, 8), 4)
    best: dict[str, Any] = {"smallest_gamma": 1, "mean_inverse_gamma": 1, "max_weight": max(weights)}
    mine = ocs.dsgd_contraction(distance2, **known, **best, relative_noise=0, objective_gap=gap)
    return equal_to(mine, ocs.full_participation(distance2, **known), instance=as_texts(known))


@claim(
    "optimal-client-sampling:remark-14-uniform",
    "uniform sampling has gamma = m/n, the worst case of Definition 11, for all updates",
    source("Remark 14 and Definition 11"),
    "identity",
    hypotheses=("some update is not zero",),
)
def remark_14_uniform(rng: np.random.Generator) -> Finding:
    (s,) = quadratic_round(rng, longest_round=2)
    share = Fraction(whole(rng, 1, 8), 8)
    drawn = replace(s.round, law=uniform_law(share))
    if not drawn.squared_weight_update2:
        return not_applicable("all updates are zero", **s.instance)
    return equal_to(drawn.gamma, share, instance={**s.instance, "law": f"uniform, {share} of the clients"})


@claim(
    "optimal-client-sampling:remark-14-between",
    "the right-hand side of Theorem 13 decreases in gamma: for a round it is between full and uniform participation",
    Statement(FEDTHEORY, "", related=(ocs.PAPER, "Remark 14"), form="derived"),
    looseness=1.01,
)
def remark_14_between(rng: np.random.Generator) -> Finding:
    (s,) = quadratic_round(rng)
    known, share = s.known, Fraction(whole(rng, 1, 4), 4)
    gamma = known.pop("gamma")
    return compared(
        falling(partial(ocs.dsgd_strongly_convex, **known, objective_gap=s.Gamma), gamma, share), s.instance
    )


@claim(
    "optimal-client-sampling:remark-16",
    "the right-hand side of Theorem 15 decreases in gamma: for a round it is between full and uniform participation",
    Statement(FEDTHEORY, "", related=(ocs.PAPER, "Remark 16"), form="derived"),
    looseness=1.01,
)
def remark_16(rng: np.random.Generator) -> Finding:
    (s,) = wells_round(rng)
    bound = partial(ocs.dsgd_nonconvex, s.value, **s.known)
    return compared(falling(bound, s.round.gamma, Fraction(whole(rng, 1, 4), 4)), s.instance)


@claim(
    "optimal-client-sampling:remark-19",
    "the right-hand sides of Theorems 17 and 18 decrease in gamma, between full and uniform participation",
    Statement(FEDTHEORY, "", related=(ocs.PAPER, "Remark 19"), form="derived"),
    looseness=1.01,
)
def remark_19(rng: np.random.Generator) -> Finding:
    (s,) = quadratic_round(rng, longest_round=3)
    share = Fraction(whole(rng, 1, 4), 4)
    known = s.known_of_fedavg | {"step_size": share * s.eta}
    gamma = known.pop("gamma")
    convex = partial(ocs.fedavg_strongly_convex, **known, objective_gap=s.Gamma)
    (wells,) = wells_round(rng, longest_round=2)
    others = wells.known | steps_of(wells.round) | {"step_size": share * wells.eta}
    nonconvex = partial(ocs.fedavg_nonconvex, wells.value, **others)
    return worst_of(
        [
            compared(falling(convex, gamma, share), s.instance),
            compared(falling(nonconvex, wells.round.gamma, share), wells.instance),
        ]
    )


def algorithm_3(drawn: SampledRound) -> Law[Vector]:
    """Return the law of the server's next model from the local models: ``x - eta_g sum_{i in S} w_i/p_i (x - y_i)``."""

    def following(joint: tuple[LocalUpdate, ...]) -> Law[Vector]:
        moved = tuple(w * (drawn.model - path.model) for w, path in zip(drawn.weights, joint, strict=True))
        p = Vector(drawn.law(moved))
        return independent(p).map(lambda S: drawn.model - drawn.server_step_size * inverse_estimate(moved, p, S))

    return Law.product(*drawn.clients).then(following)


@step(
    "optimal-client-sampling:algorithm-3",
    source("Algorithm 3"),
    lambda rng: quadratic_round(rng, longest_round=2),
    kind="identity",
    instances=(8, 100),
)
def algorithm_3_is_dsgd(s: QuadraticRound) -> list[Chain]:
    """Algorithm 3 is the round of Theorems 17 and 18 for eta = R eta_l eta_g, and DSGD for R = 1, on every path"""
    mine, dsgd = algorithm_3(s.round), replace(s.round, server_step_size=Fraction(1))

    def apart(other: Law[Vector]) -> Fraction:
        return Fraction(sum(abs(mine.get(x, 0) - other.get(x, 0)) for x in {*mine, *other}))

    rounds = [s.round] if s.round.local_steps > 1 else [s.round, dsgd]
    return [(apart(other.models), "=", 0) for other in rounds]


@claim(
    "optimal-client-sampling:lemma-21",
    "<grad h(x), z - y> >= h(z) - h(y) + mu/4 |y - z|^2 - L |z - x|^2",
    ocs.perturbed_inner_product,
    instances=(100, 4000),
    looseness=1.01,
)
def lemma_21(rng: np.random.Generator) -> Finding:
    x, y, z = (Fraction(whole(rng, -20, 20), 4) for _ in range(3))
    a = Fraction(2) ** whole(rng, -2, 2)  # h(t) = a t^2/2 with mu <= a <= L
    mu, L = a * Fraction(whole(rng, 0, 4), 4), a * Fraction(whole(rng, 4, 8), 4)
    known = {"distance2": (y - z) ** 2, "displacement2": (z - x) ** 2, "mu": mu, "L": L}
    lower = ocs.perturbed_inner_product(a * (z * z - y * y) / 2, **known)
    # Both sides of (35) may be negative, so that the subtracted terms are compared instead.
    given = L * (z - x) ** 2
    return at_most(lower + given - a * x * (z - y), given, instance={"h": f"{a} t^2/2", "x, y, z": f"{x}, {y}, {z}"})


@step("optimal-client-sampling:drift", ocs.client_drift, long_wells_round, looseness=2)
def drift(s: WellsRound) -> Chain:
    """drift <= 7/8 (1 - 1/R) (eta/eta_g)^2 (2 (1 + M/R) sum_i w_i |grad f_i|^2 + sigma2/R)"""
    mean, noise = inner(s.clients.weights, list(map(norm2, s.gradients))), s.round.constants
    known = {"step_size": s.eta, "L": s.L, "relative_noise": noise["relative_noise"], "sigma2": noise["sigma2"]}
    return s.round.drift, "<=", Fraction(ocs.client_drift(mean, **known, **steps_of(s.round)))


@step(
    "optimal-client-sampling:second-moment",
    ocs.estimator_second_moment,
    long_wells_round,
    kind="identity",
    hypotheses=("clients are sampled independently given the updates",),
)
def second_moment(s: WellsRound) -> Chain:
    """E |G|^2 = (1/gamma - 1) sum_i w_i^2 E |Delta_i|^2 + E |sum_i w_i Delta_i|^2, over all sets and noise paths"""
    known = {name: getattr(s.round, name) for name in ("squared_weight_update2", "mean_update2", "gamma")}
    return s.round.second_moment, "=", ocs.estimator_second_moment(**known)


@step("optimal-client-sampling:second-moment-fedavg", ocs.fedavg_second_moment, long_wells_round, looseness=1.5)
def fedavg_second_moment(s: WellsRound) -> Chain:
    """the second moment of FedAvg's G, with local noise and local gradients correlated"""
    known = {"gradient2": s.gradient2, "gamma": s.round.gamma, "L": s.L, "local_steps": s.round.local_steps}
    known["squared_weight_gradient2"] = squared_weight(s.clients.weights, s.gradients)
    return s.round.second_moment, "<=", Fraction(ocs.fedavg_second_moment(s.round.drift, **known, **s.round.constants))


@claim(
    "optimal-client-sampling:uncorrelated-noise",
    "E |h_i + zeta_i|^2 <= E |h_i|^2 + E |zeta_i|^2 for the means of local gradients and of local noise",
    Statement(
        FEDTHEORY, "", related=(ocs.PAPER, "Theorems 17 and 18, a plausible false step of their proofs"), form="variant"
    ),
    "refuted conjecture",
    hypotheses=("f_i is L-smooth, possibly non-convex",),
)
def uncorrelated_noise() -> Finding:
    # One client -x^2/2, two local steps of 1/10 from x = 1, noise of variance 1.
    one = vector(1)
    drawn = SampledRound(
        lambda _, w: -1 * w, one, one, full_law, Fraction(1, 5), local_steps=2, noise_length=Fraction(1)
    )
    (paths,) = drawn.clients
    apart = paths.mean(lambda path: norm2(path.mean_gradient) + norm2(path.update - path.mean_gradient))
    together = paths.mean(lambda path: norm2(path.update))
    return at_most(Fraction(together), Fraction(apart), instance={"f": "-x^2/2", "R": 2, "eta_l": "1/10", "x": 1})


@step("optimal-client-sampling:theorem-17", ocs.fedavg_strongly_convex, long_quadratic_round)
def theorem_17(s: QuadraticRound) -> Chain:
    """one round of FedAvg, strongly convex clients"""
    return s.after, "<=", Fraction(ocs.fedavg_strongly_convex(**s.known_of_fedavg, objective_gap=s.Gamma))


@step(
    "optimal-client-sampling:theorem-18",
    ocs.fedavg_nonconvex,
    # After two steps the numerator and denominator of phi have hundreds of digits.
    lambda rng: wells_round(rng, longest_round=2),
    instances=(10, 100),
)
def theorem_18(s: WellsRound) -> Chain:
    """one round of FedAvg, non-convex clients"""
    known = s.known | steps_of(s.round) | {"gamma": s.round.gamma}
    return s.after, "<=", Fraction(ocs.fedavg_nonconvex(s.value, **known))
