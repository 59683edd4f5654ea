"""Bounds against the certified worst case of their own hypotheses: a wrong bound fails wherever it is wrong."""

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims._comparisons import against_worst_case, as_texts, curvatures, step_size, tenths
from fedtheory.instances.draws import pick, whole
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_least, equal_to
from fedtheory.worst_case.biased_selection import power_of_choice
from fedtheory.worst_case.full_or_uniform import fedavg

_FEW = (3, 100)
_G2 = "the worst case has no bound on gradients, and the theorem has a term for one"


def _class(rng: np.random.Generator) -> dict[str, Any]:
    """Draw constants that some federation has; skews are often equal, and as large as L/mu."""
    known = curvatures(rng)
    kappa = known["L"] / known["mu"]
    rho = kappa * pick(rng, [Fraction(1), *(tenths(rng, 1, 9) for _ in range(3))])
    # At rho = rho_tilde = L/mu the class has no interior, and numbers cannot be rounded to proofs.
    closest = Fraction(1) if rho < kappa else Fraction(101, 100)
    return known | {
        "objective_gap": tenths(rng, 1, 30),
        "rho_diagonal": rho,
        "rho_tilde": rho * pick(rng, [closest, tenths(rng, 11, 30), tenths(rng, 11, 30)]),
        "num_selected": whole(rng, 1, 5),
        "sigma2": Fraction(0),
        "local_steps": whole(rng, 1, 3),
    }


def _least_gradients(given: dict[str, Any], distance2: Fraction) -> Fraction:
    """Return the least G2 with which the class is not empty."""
    mu, gap, rho = given["mu"], given["objective_gap"], given["rho_diagonal"]
    return Fraction(max(1, rho) * mu * (mu * distance2 + 2 * gap))


def _one_step(rng: np.random.Generator) -> dict[str, Any]:
    given = _class(rng) | {"distance2": tenths(rng, 1, 90), "elapsed_step_size": Fraction(0)}
    del given["local_steps"]
    G2 = _least_gradients(given, given["distance2"]) * tenths(rng, 11, 60)
    return given | {"G2": G2, "step_size": step_size(rng, 1 / (4 * given["L"]))}


def _rounds(rng: np.random.Generator) -> dict[str, Any]:
    return _class(rng) | {"initial_distance2": tenths(rng, 1, 90), "num_rounds": whole(rng, 1, 3)}


def _horizon(rng: np.random.Generator) -> dict[str, Any]:
    """Draw constants of a theorem that bounds gradients, by little more than there must be."""
    given = _rounds(rng)
    given["num_steps"] = given["local_steps"] * given.pop("num_rounds")
    return given | {"G2": _least_gradients(given, given["initial_distance2"]) * tenths(rng, 10, 20)}


def _fixed_horizon(rng: np.random.Generator) -> dict[str, Any]:
    given = _horizon(rng)
    return given | {"step_size": step_size(rng, 1 / (4 * given["L"]))}


def _gradient(rng: np.random.Generator) -> dict[str, Any]:
    return {"excess": tenths(rng, 1, 90), "L": tenths(rng, 1, 90)}


_THEOREM = "No federation at all exceeds the bound for "


@against_worst_case(
    "power-of-choice:one-round-worst-case", "No federation at all exceeds the bound on a round", poc.one_round
)
def one_round(rng: np.random.Generator) -> dict[str, Any]:
    given = _class(rng) | {"distance2": tenths(rng, 1, 90), "sigma2": tenths(rng, 0, 9)}
    return given | {"step_size": step_size(rng, 1 / given["L"])}


one_step = against_worst_case(
    "power-of-choice:one-step-worst-case",
    "No federation with bounded gradients exceeds the bound on a round's first step",
    poc.one_step,
)(_one_step)


@against_worst_case(
    "power-of-choice:weighted-one-step-worst-case",
    "No federation with bounded gradients exceeds the bound on a round's first step with weights",
    poc.weighted_one_step,
)
def weighted_one_step(rng: np.random.Generator) -> dict[str, Any]:
    given = _one_step(rng)
    return given | {"squared_weights": Fraction(1, given.pop("num_selected"))}


@against_worst_case(
    "power-of-choice:fixed-step-distance-worst-case",
    "No federation at all exceeds the bound for a fixed step size",
    poc.fixed_step_distance,
)
def fixed_step_distance(rng: np.random.Generator) -> dict[str, Any]:
    given = _rounds(rng)
    return given | {"step_size": step_size(rng, 1 / given["L"])}


@against_worst_case(
    "power-of-choice:decaying-steps-distance-worst-case",
    "No federation at all exceeds the bound for decaying step sizes without bounded gradients",
    poc.decaying_steps_distance,
)
def decaying_steps_distance(rng: np.random.Generator) -> dict[str, Any]:
    given = _rounds(rng)
    least = 2 * given["local_steps"] * given["L"] / given["mu"]
    return given | {"gamma": least * pick(rng, [Fraction(1), tenths(rng, 11, 30)])}


@against_worst_case(
    "power-of-choice:averaged-rounds-gap-worst-case",
    _THEOREM + "averaged models without bounded gradients",
    poc.averaged_rounds_gap,
    looseness=1.05,
)
def averaged_rounds_gap(rng: np.random.Generator) -> dict[str, Any]:
    given = _rounds(rng) | {"num_rounds": whole(rng, 1, 2), "local_steps": whole(rng, 1, 2)}
    return given | {"step_size": tenths(rng, 1, 9) / given["L"]}


decaying_steps_gap = against_worst_case(
    "power-of-choice:theorem-r-worst-case",
    _THEOREM + "decaying step sizes",
    poc.decaying_steps_gap,
    looseness=1.2,
    remark=_G2,
)(_horizon)
refined_decaying_steps_gap = against_worst_case(
    "power-of-choice:theorem-r-refined-worst-case",
    _THEOREM + "decaying step sizes in its refined form",
    poc.refined_decaying_steps_gap,
    looseness=1.05,
    remark=_G2,
)(_horizon)


@against_worst_case(
    "power-of-choice:theorem-a1-worst-case",
    _THEOREM + "a fixed step size with bounded gradients",
    poc.fixed_step_gap,
    remark=_G2,
)
def fixed_step_gap(rng: np.random.Generator) -> dict[str, Any]:
    given = _fixed_horizon(rng)
    return given | {"initial_gap": given["mu"] / 2 * given.pop("initial_distance2")}


refined_fixed_step_gap = against_worst_case(
    "power-of-choice:theorem-a1-refined-worst-case",
    _THEOREM + "a fixed step size with bounded gradients in its refined form",
    poc.refined_fixed_step_gap,
    remark=_G2,
)(_fixed_horizon)


@against_worst_case(
    "power-of-choice:eq-85-worst-case", _THEOREM + "weights of sum one", poc.weighted_average_gap, remark=_G2
)
def weighted_average_gap(rng: np.random.Generator) -> dict[str, Any]:
    given = _horizon(rng)
    return given | {"squared_weights": Fraction(1, given["num_selected"])}


@against_worst_case(
    "power-of-choice:eq-85-derived-worst-case",
    _THEOREM + "weights of sum one from the recursion of the paper",
    poc.derived_weighted_average_gap,
    looseness=4,
    remark=_G2,
)
def derived_weighted_average_gap(rng: np.random.Generator) -> dict[str, Any]:
    given = _horizon(rng)
    return given | {"rho_bar": given.pop("rho_diagonal"), "num_selected": whole(rng, 2, 5)}


gradient_norm = against_worst_case(
    "power-of-choice:lemma-b1-worst-case",
    "No smooth, strongly convex function exceeds the bound on its gradient",
    poc.gradient_norm,
)(_gradient)


@against_worst_case(
    "power-of-choice:loss-after-step-worst-case",
    "No function has a smaller loss after a step of gradient descent than the bound",
    poc.loss_after_step,
)
def loss_after_step(rng: np.random.Generator) -> dict[str, Any]:
    given = _gradient(rng)
    return given | {"step_size": step_size(rng, 1 / given["L"])}


@against_worst_case(
    "power-of-choice:exact-client-drift-worst-case",
    "No federation drifts farther than the bound",
    poc.exact_client_drift,
)
def exact_client_drift(rng: np.random.Generator) -> dict[str, Any]:
    known = curvatures(rng)
    return known | {
        "step_size": step_size(rng, 1 / known["L"]),
        "local_steps": whole(rng, 2, 4),
        "G2": tenths(rng, 1, 90),
    }


def _overlap(rng: np.random.Generator) -> dict[str, Any]:
    mu, kappa = Fraction(1), tenths(rng, 11, 300)
    return {"mu": mu, "L": kappa, "distance2": Fraction(1), "objective_gap": tenths(rng, 1, 50)}


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
    Statement(poc.PAPER, "Section 3", "two clients of equal minima", form="derived"),
    "identity",
    remark="it is a conjecture that this is the worst case for equal minima: programs agree to six digits",
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
