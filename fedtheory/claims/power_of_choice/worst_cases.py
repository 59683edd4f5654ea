"""Worst cases of selections by losses, and federations that attain a floor and a bias."""

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.instances.federations import RationalQuadratics
from fedtheory.instances.formatting import format_federation
from fedtheory.instances.vectors import Vector, average, norm2, vector
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import as_texts, step_size, tenths, whole
from fedtheory.theorem.findings import Finding, at_least, equal_to
from fedtheory.theorem.paper import FEDTHEORY, Statement
from fedtheory.worst_case.biased_selection import power_of_choice
from fedtheory.worst_case.federated_averaging import fedavg

_FEW = (3, 100)


def _overlap(rng: np.random.Generator) -> dict[str, Any]:
    mu, kappa = Fraction(1), tenths(rng, 11, 300)
    return {"mu": mu, "L": kappa, "distance2": Fraction(1), "objective_gap": tenths(rng, 1, 50)}


@claim(
    "power-of-choice:uniform-is-minimax",
    "In the worst case of a round no selection of m distinct clients by their losses is better than uniform sampling",
    Statement(FEDTHEORY, "equal weights and minima", related=(poc.PAPER, "Section 3"), form="derived"),
    "optimality",
    instances=_FEW,
    remark="there is a worst federation for uniform sampling with indistinguishable clients, on which every selection "
    "is equally good; an advantage of pow-d therefore needs a hypothesis such as rho_diagonal > 1",
)
def uniform_is_minimax(rng: np.random.Generator) -> Finding:
    given, tau = _overlap(rng), whole(rng, 1, 2)
    eta, K = step_size(rng, 1 / given["L"]), whole(rng, 2, 4)
    d = whole(rng, 1, K)
    m = whole(rng, 1, d)
    ranked = power_of_choice(K, d, m, tau, eta, **given)
    uniform = fedavg(tau, eta, **given, sampling="distinct", num_clients=K, num_selected=m)
    words = {"K": K, "d": d, "m": m, "local_steps": tau, "step_size": str(eta), **as_texts(given)}
    return at_least(ranked.enclosure[1], uniform.enclosure[0], instance=words)


@claim(
    "power-of-choice:two-client-floor",
    "pow-d with two candidates of two clients stays at Gamma ((sqrt(kappa) - 1)/(sqrt(kappa) + 1))^2 above F*",
    Statement(FEDTHEORY, "two clients of equal minima", related=(poc.PAPER, "Section 3"), form="derived"),
    "identity",
    remark="conjectured to be the worst case for equal minima; semidefinite programs agree to six digits",
)
def two_client_floor(rng: np.random.Generator) -> Finding:
    root, distance = Fraction(whole(rng, 3, 40), 2), Fraction(whole(rng, 1, 9), 2)
    L, mu = root**2, Fraction(1)

    def objective(w: Fraction) -> Fraction:
        return (L * w**2 + mu * (w - distance) ** 2) / 4

    # The larger of two losses is smallest where they are equal: sqrt(L) w = sqrt(mu) (distance - w).
    least, gap = objective(mu * distance / (L + mu)), objective(distance / (1 + root))
    promised = least * ((root - 1) / (root + 1)) ** 2
    return equal_to(gap - least, promised, instance={"L": str(L), "distance": str(distance)})


@claim(
    "power-of-choice:bias-attained",
    "A federation stays at squared distance 2 Gamma (rho_tilde - rho)/(mu (1 + rho)), the bias",
    poc.decaying_steps_distance,
    "identity",
)
def bias_attained(rng: np.random.Generator) -> Finding:
    mu, kappa = Fraction(whole(rng, 1, 6), 2), Fraction(whole(rng, 5, 20), 4)
    r, d = Fraction(whole(rng, 1, 9), 4), Fraction(whole(rng, 1, 9), 4)
    L = kappa * mu
    # The selected clients are mu/2 (s - r)^2 + L/2 (z -+ d)^2. In the population F = mu/2 |w|^2, and Gamma is so large
    # that the skew at the model (r, 0) is at most L/mu.
    Gamma = (mu * (d**2 + r**2) / 2) * Fraction(whole(rng, 4, 12), 4)
    high = L * d**2 / 2
    fed = RationalQuadratics((vector(mu, L),) * 2, (vector(r, d), vector(r, -d)), vector("1/2", "1/2"), vector(0, 0))
    rho, rho_tilde = high / (mu * r**2 / 2 + Gamma), (mu * r**2 / 2 + high) / Gamma
    sizes = [Fraction(whole(rng, 1, 8), 8) / L for _ in range(whole(rng, 1, 4))]
    models = [vector(r, 0)] * 2
    for eta in sizes:
        models = [w - eta * fed.gradient(k, w) for k, w in enumerate(models)]
    tau, gamma = len(sizes), 2 * len(sizes) * kappa
    known = {"mu": mu, "L": L, "objective_gap": Gamma, "rho_diagonal": rho, "rho_tilde": rho_tilde}
    counts = {"local_steps": tau, "num_selected": 2}
    known |= {"sigma2": Fraction(0), "initial_distance2": r**2}
    bias = poc.decaying_steps_distance.terms(1, gamma=gamma, **counts, **known)["bias"]
    return equal_to(norm2(average(models)), bias, instance=format_federation(fed) | {"steps": str(Vector(sizes))})
