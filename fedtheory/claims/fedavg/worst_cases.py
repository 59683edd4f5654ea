"""The theorem of Li et al. against the certified worst case of its step sizes."""

from fractions import Fraction

import numpy as np

from fedtheory.bounds import fedavg as li
from fedtheory.rational.draws import whole
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most
from fedtheory.worst_case.promises import confront


@claim(
    "fedavg:full-participation-worst-case",
    "No federation exceeds Theorem 1 when all clients take part, even where no bound on gradients binds",
    li.full_participation_gap,
    instances=(4, 100),
    looseness=2,
    remark="the promise is proved by a recursion whose heterogeneity is not there for one local step",
)
def full_participation(rng: np.random.Generator) -> Finding:
    mu, kappa, tau = Fraction(1), Fraction(whole(rng, 12, 200), 10), whole(rng, 1, 3)
    distance2, gap = Fraction(whole(rng, 1, 90), 10), Fraction(whole(rng, 1, 30), 10)
    # Gradients that no path of the worst federation exceeds by much, so that the class is not empty.
    G2 = (kappa * mu) ** 2 * (distance2 + 2 * gap / mu)
    given = {
        "num_steps": tau * whole(rng, 1, 3),
        "mu": mu,
        "L": kappa * mu,
        "local_steps": tau,
        "G2": G2,
        "weighted_sigma2": Fraction(0),
        "objective_gap": gap,
        "initial_distance2": distance2,
    }
    found = confront(li.full_participation_gap, **given)
    words = {name: str(value) for name, value in given.items()}
    return at_most(found.worst.enclosure[0], Fraction(found.promise), instance=words)
