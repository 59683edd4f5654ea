"""The round without bounded gradients by a second road: multipliers in rationals, and the induction of Theorem P."""

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims._closed_forms import prove_skewed_round
from fedtheory.claims._comparisons import as_texts
from fedtheory.rational.draws import pick, whole
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to

_MANY = (20, 1000)


def _tenths(rng: np.random.Generator, low: int, high: int) -> Fraction:
    return Fraction(whole(rng, low, high), 10)


def _class(rng: np.random.Generator) -> dict[str, Any]:
    """Draw constants; skews that are equal, 0 or as large as they can be are drawn often."""
    mu, kappa = _tenths(rng, 1, 20), _tenths(rng, 11, 300)
    rho = kappa * pick(rng, [Fraction(0), Fraction(1), _tenths(rng, 1, 9)])
    return {
        "mu": mu,
        "L": mu * kappa,
        "rho_diagonal": rho,
        "rho_tilde": rho * pick(rng, [Fraction(1), _tenths(rng, 11, 40)]) or _tenths(rng, 0, 30),
    }


@claim(
    "power-of-choice:one-round-proof",
    "Multipliers that hand losses on to the round's start by Lemma F prove the bound on a round, any steps up to 1/L",
    Statement(poc.PAPER, "Appendix C", "a whole round, without Assumption 3.4", form="derived"),
    "identity",
    hypotheses=tuple(assumption.text for assumption in poc.one_round.hypotheses),
    instances=_MANY,
    remark="the multipliers are checked against the semidefinite program of the class, without a solver",
)
def one_round_proof(rng: np.random.Generator) -> Finding:
    known, distance2, gap = _class(rng), _tenths(rng, 1, 90), _tenths(rng, 1, 30)
    sizes = [pick(rng, [Fraction(1), _tenths(rng, 1, 9)]) / known["L"] for _ in range(whole(rng, 1, 4))]
    by = poc.round_coefficients(sizes, num_selected=1, **known)
    proved = prove_skewed_round(sizes, distance2=distance2, objective_gap=gap, **known)
    words = as_texts(known) | {"sizes": ", ".join(map(str, sizes))}
    bound = Fraction(by.distance2 * distance2 + by.objective_gap * gap)
    return equal_to(proved, bound, instance=words | {"distance2": str(distance2), "objective_gap": str(gap)})


@claim(
    "power-of-choice:decaying-steps-distance-induction",
    "From psi/s + delta a round of steps 1/(mu (t + gamma)) leads to at most psi/(s + tau) + delta",
    poc.decaying_steps_distance,
    instances=_MANY,
    looseness=1.01,
)
def decaying_steps_induction(rng: np.random.Generator) -> Finding:
    known, tau = _class(rng), whole(rng, 1, 4)
    known["rho_diagonal"] = known["rho_diagonal"] or Fraction(1, 10)
    known["rho_tilde"] = max(known["rho_tilde"], known["rho_diagonal"])
    known |= {"num_selected": whole(rng, 1, 5)}
    gap, sigma2 = _tenths(rng, 0, 30), _tenths(rng, 0, 30)
    gamma = 2 * tau * known["L"] / known["mu"] * pick(rng, [Fraction(1), _tenths(rng, 11, 40)])
    rounds = whole(rng, 0, 20)
    shared = {"gamma": gamma, "local_steps": tau, "sigma2": sigma2, "objective_gap": gap, **known}

    def promised(num_rounds: int) -> Fraction:
        return Fraction(poc.decaying_steps_distance(num_rounds, initial_distance2=Fraction(0), **shared))

    sizes = [1 / (known["mu"] * (tau * rounds + s + gamma)) for s in range(tau)]
    by = poc.round_coefficients(sizes, **known)
    after = by.distance2 * promised(rounds) + by.objective_gap * gap + by.sigma2 * sigma2
    words = as_texts(shared) | {"rounds": rounds}
    return at_most(Fraction(after), promised(rounds + 1), instance=words)
