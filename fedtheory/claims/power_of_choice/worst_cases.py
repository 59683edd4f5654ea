"""Bounds against the certified worst case of their own hypotheses: a wrong bound fails wherever it is wrong."""

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.paper import Bound, Statement
from fedtheory.rational.draws import whole
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_least, at_most, equal_to
from fedtheory.worst_case.biased_selection import power_of_choice
from fedtheory.worst_case.full_or_uniform import fedavg
from fedtheory.worst_case.promises import confront

_FEW = (4, 100)


def _tenths(rng: np.random.Generator, low: int, high: int) -> Fraction:
    return Fraction(whole(rng, low, high), 10)


def _class(rng: np.random.Generator) -> dict[str, Any]:
    """Draw constants that some federation has, skews among them."""
    mu, kappa = _tenths(rng, 1, 20), _tenths(rng, 12, 200)
    # At rho = rho_tilde = L/mu the class has no interior, and numbers cannot be rounded to proofs.
    rho = kappa * _tenths(rng, 1, 9)
    return {
        "mu": mu,
        "L": mu * kappa,
        "objective_gap": _tenths(rng, 1, 30),
        "rho_diagonal": rho,
        "rho_tilde": rho * _tenths(rng, 10, 30),
        "num_selected": whole(rng, 1, 5),
        "sigma2": Fraction(0),
        "local_steps": whole(rng, 1, 3),
    }


def _compared(bound: Bound, given: dict[str, Any]) -> Finding:
    found = confront(bound, **given)
    words = {name: str(value) for name, value in given.items()}
    return at_most(found.worst.enclosure[0], Fraction(found.promise), instance=words)


@claim(
    "power-of-choice:one-round-worst-case",
    "No federation at all exceeds the bound on a round",
    poc.one_round,
    instances=_FEW,
    looseness=1.01,
)
def one_round(rng: np.random.Generator) -> Finding:
    given = _class(rng) | {"distance2": _tenths(rng, 1, 90), "sigma2": _tenths(rng, 0, 9)}
    return _compared(poc.one_round, given | {"step_size": _tenths(rng, 1, 10) / given["L"]})


@claim(
    "power-of-choice:one-step-worst-case",
    "No federation with bounded gradients exceeds the bound on a round's first step",
    poc.one_step,
    instances=_FEW,
    looseness=1.01,
)
def one_step(rng: np.random.Generator) -> Finding:
    given = _class(rng) | {"distance2": _tenths(rng, 1, 90), "elapsed_step_size": Fraction(0)}
    del given["local_steps"]
    least = (
        max(1, given["rho_diagonal"]) * given["mu"] * (given["mu"] * given["distance2"] + 2 * given["objective_gap"])
    )
    given |= {"G2": least * _tenths(rng, 11, 60), "step_size": _tenths(rng, 1, 10) / (4 * given["L"])}
    return _compared(poc.one_step, given)


def _rounds(rng: np.random.Generator) -> dict[str, Any]:
    return _class(rng) | {"initial_distance2": _tenths(rng, 1, 90), "num_rounds": whole(rng, 1, 3)}


@claim(
    "power-of-choice:fixed-step-distance-worst-case",
    "No federation at all exceeds the bound for a fixed step size",
    poc.fixed_step_distance,
    instances=_FEW,
    looseness=1.01,
)
def fixed_step_distance(rng: np.random.Generator) -> Finding:
    given = _rounds(rng)
    return _compared(poc.fixed_step_distance, given | {"step_size": _tenths(rng, 1, 10) / given["L"]})


@claim(
    "power-of-choice:decaying-steps-distance-worst-case",
    "No federation at all exceeds the bound for decaying step sizes without bounded gradients",
    poc.decaying_steps_distance,
    instances=_FEW,
    looseness=1.01,
)
def decaying_steps_distance(rng: np.random.Generator) -> Finding:
    given = _rounds(rng)
    least = 2 * given["local_steps"] * given["L"] / given["mu"]
    return _compared(poc.decaying_steps_distance, given | {"gamma": least * _tenths(rng, 10, 30)})


def _overlap(rng: np.random.Generator) -> dict[str, Any]:
    mu, kappa = Fraction(1), _tenths(rng, 15, 300)
    return {"mu": mu, "L": kappa, "distance2": Fraction(1), "objective_gap": _tenths(rng, 1, 50)}


@claim(
    "power-of-choice:uniform-is-minimax",
    "In the worst case of a round no selection of m distinct clients by their losses beats uniform sampling",
    Statement(poc.PAPER, "Section 3", "equal weights and minima", form="derived"),
    "optimality",
    instances=_FEW,
    remark="the worst federation for uniform sampling may be taken such that clients cannot be told apart, and there "
    "every selection does the same; so an advantage of pow-d needs a hypothesis like rho_diagonal > 1",
)
def uniform_is_minimax(rng: np.random.Generator) -> Finding:
    given, tau = _overlap(rng), whole(rng, 1, 2)
    eta, K = _tenths(rng, 1, 10) / given["L"], whole(rng, 2, 4)
    d = whole(rng, 1, K)
    m = whole(rng, 1, d)
    ranked = power_of_choice(K, d, m, tau, eta, **given)
    uniform = fedavg(tau, eta, **given, sampling="distinct", num_clients=K, num_selected=m)
    words = {"K": K, "d": d, "m": m, "local_steps": tau, "step_size": str(eta), **{k: str(v) for k, v in given.items()}}
    return at_least(ranked.enclosure[1], uniform.enclosure[0], instance=words)


@claim(
    "power-of-choice:two-client-floor",
    "pow-d with two candidates of two clients stays at Gamma ((sqrt(kappa) - 1)/(sqrt(kappa) + 1))^2 above F*",
    Statement(poc.PAPER, "Section 3", "two clients of equal minima", form="derived"),
    "identity",
    remark="that two clients of equal minima can do no worse is a conjecture: programs agree to six digits",
)
def two_client_floor(rng: np.random.Generator) -> Finding:
    root, distance = Fraction(whole(rng, 3, 40), 2), Fraction(whole(rng, 1, 9), 2)
    L, mu = root**2, Fraction(1)

    def objective(w: Fraction) -> Fraction:
        return (L * w**2 + mu * (w - distance) ** 2) / 4

    # The larger of the two losses is least where they are equal: sqrt(L) w = sqrt(mu) (distance - w).
    least, gap = objective(mu * distance / (L + mu)), objective(distance / (1 + root))
    promised = least * ((root - 1) / (root + 1)) ** 2
    return equal_to(gap - least, promised, instance={"L": str(L), "distance": str(distance)})
