"""The bounds of FedALIGN against certified worst cases of a round in which a third client is included."""

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import fedalign as align
from fedtheory.claims._confronted import confronted, draw_class, step_size, tenths
from fedtheory.rational.draws import whole

_G2 = "the worst case is that without a bound on gradients, and the theorem pays for one"


def _class(rng: np.random.Generator) -> dict[str, Any]:
    """Draw two priority clients and a third one of their size, with gradients that leave some federation."""
    given = draw_class(rng) | {"sigma2": Fraction(0), "client_gap": tenths(rng, 1, 30)}
    mu = given["mu"]
    least = max(mu**2 * given["distance2"] + 2 * mu * given["objective_gap"], 2 * mu * given["client_gap"])
    return given | {"G2": least * whole(rng, 1, 5), "share": Fraction(1, whole(rng, 1, 4))}


def _included(given: dict[str, Any]) -> dict[str, Any]:
    share = given.pop("share")
    return given | {"priority_weight": 1 / (1 + share), "included_gap": share * given.pop("client_gap") / (1 + share)}


def _step(rng: np.random.Generator) -> dict[str, Any]:
    given = _included(_class(rng))
    return given | {"step_size": step_size(rng, 1 / (4 * given["L"])), "local_steps": whole(rng, 1, 3)}


def _first_step(rng: np.random.Generator) -> dict[str, Any]:
    given = _step(rng)
    del given["local_steps"]
    return given | {"elapsed_step_size": Fraction(0), "squared_weights": Fraction(1)}


def _recursion(rng: np.random.Generator) -> dict[str, Any]:
    given, tau = _included(_class(rng)), whole(rng, 1, 2)
    given["initial_distance2"] = given.pop("distance2")
    sequences = {f"{name}s": [given.pop(name)] * tau for name in ("priority_weight", "included_gap")}
    return given | sequences | {"num_steps": tau, "local_steps": tau}


def _theorem(rng: np.random.Generator) -> dict[str, Any]:
    given = _recursion(rng)
    tau, mu, L = given["num_steps"], given["mu"], given["L"]
    horizon = tau + max(8 * L / mu, Fraction(tau)) - 2
    theta = tau * given.pop("priority_weights")[0] / horizon
    return given | {"theta": theta, "rho": 2 * L * tau * given.pop("included_gaps")[0] / (mu * horizon)}


one_step = confronted(
    "fedalign:lemma-a6-worst-case",
    "No federation exceeds Lemma A.6 in a round's first step that includes a third client",
    align.one_step,
    _step,
    looseness=1.01,
)
refined_one_step = confronted(
    "fedalign:lemma-a6-refined-worst-case",
    "No federation exceeds the refined Lemma A.6 in a round's first step that includes a third client",
    align.refined_one_step,
    _first_step,
    looseness=1.01,
)
recursion_gap = confronted(
    "fedalign:recursion-gap-worst-case",
    "No federation exceeds the solved recursion after a round that includes a third client",
    align.recursion_gap,
    _recursion,
    looseness=1.2,
    remark=_G2,
)
full_participation_gap = confronted(
    "fedalign:theorem-1-worst-case",
    "No federation exceeds the corrected Theorem 1 after a round that includes a third client",
    align.full_participation_gap,
    _theorem,
    looseness=1.5,
    remark=_G2,
)
gradient_norm = confronted(
    "fedalign:lemma-a2-worst-case",
    "No smooth, strongly convex function exceeds the bound on its gradient",
    align.gradient_norm,
    lambda rng: {"excess": tenths(rng, 1, 90), "L": tenths(rng, 1, 90)},
    looseness=1.01,
)
