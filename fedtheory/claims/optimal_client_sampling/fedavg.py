"""Optimal Client Sampling: Lemma 21, the lemmas on drift and second moment, Theorems 17 and 18, followed exactly."""

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.claims.optimal_client_sampling._checks import landing, squared_weight, standing
from fedtheory.rational._round_draws import draw_phi_round, draw_quadratic_round
from fedtheory.rational._sampled_rounds import SampledRound, everybody
from fedtheory.rational.draws import whole
from fedtheory.rational.vectors import combination, difference, inner, norm2, vector
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to

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
    instances=(1, 1),
)
def uncorrelated_noise(_: np.random.Generator) -> Finding:
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
    known = {**standing(drawn, fed), "mu": fed.strong_convexity, "objective_gap": fed.objective_gap}
    predicted = ocs.fedavg_strongly_convex(**known, **_round_constants(drawn))
    return at_most(landing(drawn, fed), Fraction(predicted), instance=instance)


@claim(
    "optimal-client-sampling:theorem-17-per-client",
    "one round of FedAvg, strongly convex clients, with sum_i w_i^2 Z_i",
    ocs.fedavg_strongly_convex_per_client,
    looseness=1.01,
)
def per_client(rng: np.random.Generator) -> Finding:
    drawn, fed, instance = draw_quadratic_round(rng, longest_round=_LONGEST)
    known = {**standing(drawn, fed), "mu": fed.strong_convexity, "objective_gap": fed.objective_gap}
    predicted = ocs.fedavg_strongly_convex_per_client(
        **known,
        **_round_constants(drawn),
        per_client_gap=inner([w * w for w in fed.weights], fed.excesses(fed.minimizer)),
    )
    return at_most(landing(drawn, fed), Fraction(predicted), instance=instance)


@claim(
    "optimal-client-sampling:theorem-17-convex-clients",
    "one round of FedAvg, convex clients (one without curvature along a coordinate), f strongly convex",
    ocs.fedavg_convex_clients,
    looseness=1.01,
)
def convex_clients(rng: np.random.Generator) -> Finding:
    drawn, fed, instance = draw_quadratic_round(rng, longest_round=_LONGEST, flat=True)
    known = {**standing(drawn, fed), "objective_gap": fed.objective_gap}
    predicted = ocs.fedavg_convex_clients(**known, **_round_constants(drawn))
    return at_most(landing(drawn, fed), Fraction(predicted), instance=instance)


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
