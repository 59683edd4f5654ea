"""Optimal Client Sampling: Lemma 21, the lemmas on drift and second moment, Theorems 17 and 18, followed exactly."""

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.claims._instances import whole
from fedtheory.claims._sampled_draws import draw_phi_round, draw_quadratic_round, everybody
from fedtheory.claims._sampled_rounds import SampledRound
from fedtheory.claims.optimal_client_sampling.dsgd import hypotheses, landing, squared_weight, standing
from fedtheory.paper import Statement
from fedtheory.verification.claim import FAILS, Claim, Finding, at_most, equal_to
from fedtheory.verification.rational import combination, difference, norm2, vector

__all__ = [
    "CONVEX_CLIENTS",
    "DRIFT",
    "FEDAVG_NONCONVEX",
    "FEDAVG_SECOND_MOMENT",
    "FEDAVG_STRONGLY_CONVEX",
    "LEMMA_21",
    "LEMMA_21_ATTAINED",
    "PER_CLIENT",
    "SECOND_MOMENT_IDENTITY",
    "UNCORRELATED_NOISE",
]

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


def _lemma_21(rng: np.random.Generator) -> Finding:
    x, y, z = (Fraction(whole(rng, -20, 20), 4) for _ in range(3))
    return _quadratic(rng, Fraction(2) ** whole(rng, -2, 2), x, y, z)


LEMMA_21 = Claim(
    key="optimal-client-sampling:lemma-21",
    title="<grad h(x), z - y> >= h(z) - h(y) + mu/4 |y - z|^2 - L |z - x|^2",
    statement=ocs.perturbed_inner_product.statement,
    kind="inequality",
    check=_lemma_21,
    hypotheses=hypotheses(ocs.perturbed_inner_product),
    instances=(100, 4000),
    bound=ocs.perturbed_inner_product,
)


def _lemma_21_attained(rng: np.random.Generator) -> Finding:
    y, z = (Fraction(whole(rng, -20, 20), 4) for _ in range(2))
    x, a = (y + z) / 2, Fraction(2) ** whole(rng, -2, 2)
    lower = ocs.perturbed_inner_product(
        a * (z * z - y * y) / 2, distance2=(y - z) ** 2, displacement2=(z - x) ** 2, mu=a, L=a
    )
    return equal_to(a * x * (z - y), lower, instance={"h": f"{a} t^2/2", "y, z": f"{y}, {z}"})


LEMMA_21_ATTAINED = Claim(
    key="optimal-client-sampling:lemma-21-attained",
    title="(35) is an equality for h = L t^2/2 and x in the middle between y and z",
    statement=ocs.perturbed_inner_product.statement,
    kind="identity",
    check=_lemma_21_attained,
    hypotheses=("h = L t^2/2, mu = L, x = (y + z)/2",),
    bound=ocs.perturbed_inner_product,
)


def _drift(rng: np.random.Generator) -> Finding:
    drawn, clients, instance = draw_phi_round(rng, longest_round=_LONGEST)
    mean = sum((w * norm2(g) for w, g in zip(clients.weights, drawn.gradients(), strict=True)), start=Fraction(0))
    predicted = ocs.client_drift(
        mean,
        step_size=drawn.step_size,
        L=clients.smoothness,
        relative_noise=drawn.noise_factor**2,
        sigma2=drawn.noise_length**2,
        **_round_constants(drawn),
    )
    return at_most(drawn.drift, Fraction(predicted), instance=instance)


DRIFT = Claim(
    key="optimal-client-sampling:drift",
    title="drift <= 7/8 (1 - 1/R) (eta/eta_g)^2 (2 (1 + M/R) sum_i w_i |grad f_i|^2 + sigma2/R)",
    statement=ocs.client_drift.statement,
    kind="inequality",
    check=_drift,
    hypotheses=hypotheses(ocs.client_drift),
    bound=ocs.client_drift,
)


def _second_moment_identity(rng: np.random.Generator) -> Finding:
    drawn, _, instance = draw_phi_round(rng, longest_round=_LONGEST)
    predicted = ocs.estimator_second_moment(
        squared_weight_update2=drawn.squared_weight_update2, mean_update2=drawn.mean_update2, gamma=drawn.gamma
    )
    return equal_to(drawn.second_moment, predicted, instance=instance)


SECOND_MOMENT_IDENTITY = Claim(
    key="optimal-client-sampling:second-moment",
    title="E |G|^2 = (1/gamma - 1) sum_i w_i^2 E |Delta_i|^2 + E |sum_i w_i Delta_i|^2, over all sets and noise paths",
    statement=ocs.estimator_second_moment.statement,
    kind="identity",
    check=_second_moment_identity,
    hypotheses=("clients are sampled independently given the updates",),
    bound=ocs.estimator_second_moment,
)


def _second_moment(rng: np.random.Generator) -> Finding:
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


FEDAVG_SECOND_MOMENT = Claim(
    key="optimal-client-sampling:second-moment-fedavg",
    title="the second moment of FedAvg's G, with local noise and local gradients correlated",
    statement=ocs.fedavg_second_moment.statement,
    kind="inequality",
    check=_second_moment,
    hypotheses=hypotheses(ocs.fedavg_second_moment),
    bound=ocs.fedavg_second_moment,
)


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


def _uncorrelated(_: np.random.Generator) -> Finding:
    (paths,) = concave_client().clients
    apart = sum(
        path.probability * (norm2(path.mean_gradient) + norm2(difference(path.update, path.mean_gradient)))
        for path in paths
    )
    together = sum(path.probability * norm2(path.update) for path in paths)
    return at_most(Fraction(together), Fraction(apart), instance={"f": "-x^2/2", "R": 2, "eta_l": "1/10", "x": 1})


UNCORRELATED_NOISE = Claim(
    key="optimal-client-sampling:uncorrelated-noise",
    title="E |h_i + zeta_i|^2 <= E |h_i|^2 + E |zeta_i|^2 for the means of local gradients and of local noise",
    statement=Statement(ocs.PAPER, "Theorems 17 and 18", "a tempting step of their proofs", form="variant"),
    kind="erratum",
    check=_uncorrelated,
    expected=FAILS,
    hypotheses=("f_i is L-smooth, possibly non-convex",),
    instances=(1, 1),
)


def _strongly_convex(rng: np.random.Generator) -> Finding:
    drawn, fed, instance = draw_quadratic_round(rng, longest_round=_LONGEST)
    known = {**standing(drawn, fed), "mu": fed.strong_convexity, "objective_gap": fed.objective_gap}
    predicted = ocs.fedavg_strongly_convex(**known, **_round_constants(drawn))
    return at_most(landing(drawn, fed), Fraction(predicted), instance=instance)


FEDAVG_STRONGLY_CONVEX = Claim(
    key="optimal-client-sampling:theorem-17",
    title="one round of FedAvg, strongly convex clients",
    statement=ocs.fedavg_strongly_convex.statement,
    kind="inequality",
    check=_strongly_convex,
    hypotheses=hypotheses(ocs.fedavg_strongly_convex),
    bound=ocs.fedavg_strongly_convex,
)


def _per_client(rng: np.random.Generator) -> Finding:
    drawn, fed, instance = draw_quadratic_round(rng, longest_round=_LONGEST)
    gaps = [fed.excess(k, fed.minimizer) for k in range(fed.num_clients)]
    known = {**standing(drawn, fed), "mu": fed.strong_convexity, "objective_gap": fed.objective_gap}
    predicted = ocs.fedavg_strongly_convex_per_client(
        **known,
        **_round_constants(drawn),
        per_client_gap=sum((w * w * gap for w, gap in zip(fed.weights, gaps, strict=True)), start=Fraction(0)),
    )
    return at_most(landing(drawn, fed), Fraction(predicted), instance=instance)


PER_CLIENT = Claim(
    key="optimal-client-sampling:theorem-17-per-client",
    title="one round of FedAvg, strongly convex clients, with sum_i w_i^2 Z_i",
    statement=ocs.fedavg_strongly_convex_per_client.statement,
    kind="inequality",
    check=_per_client,
    hypotheses=hypotheses(ocs.fedavg_strongly_convex_per_client),
    bound=ocs.fedavg_strongly_convex_per_client,
)


def _convex_clients(rng: np.random.Generator) -> Finding:
    drawn, fed, instance = draw_quadratic_round(rng, longest_round=_LONGEST, flat=True)
    known = {**standing(drawn, fed), "objective_gap": fed.objective_gap}
    predicted = ocs.fedavg_convex_clients(**known, **_round_constants(drawn))
    return at_most(landing(drawn, fed), Fraction(predicted), instance=instance)


CONVEX_CLIENTS = Claim(
    key="optimal-client-sampling:theorem-17-convex-clients",
    title="one round of FedAvg, convex clients (one without curvature along a coordinate), f strongly convex",
    statement=ocs.fedavg_convex_clients.statement,
    kind="inequality",
    check=_convex_clients,
    hypotheses=hypotheses(ocs.fedavg_convex_clients),
    bound=ocs.fedavg_convex_clients,
)


def _nonconvex(rng: np.random.Generator) -> Finding:
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
    return at_most(Fraction(drawn.expected(clients.value)), Fraction(predicted), instance=instance)


FEDAVG_NONCONVEX = Claim(
    key="optimal-client-sampling:theorem-18",
    title="one round of FedAvg, non-convex clients",
    statement=ocs.fedavg_nonconvex.statement,
    kind="inequality",
    check=_nonconvex,
    hypotheses=hypotheses(ocs.fedavg_nonconvex),
    instances=(10, 100),
    bound=ocs.fedavg_nonconvex,
)
