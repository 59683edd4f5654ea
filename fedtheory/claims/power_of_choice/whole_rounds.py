"""Power-of-Choice without bounded gradients: a federation that attains the bias."""

from fractions import Fraction

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.instances.federations import RationalQuadratics
from fedtheory.instances.formatting import format_federation
from fedtheory.instances.vectors import Vector, average, norm2, vector
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import whole
from fedtheory.theorem.findings import Finding, equal_to


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
