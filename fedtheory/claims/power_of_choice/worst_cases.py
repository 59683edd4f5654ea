"""Claims about certified worst cases of selections by losses."""

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import as_texts, step_size, tenths, whole
from fedtheory.theorem.findings import Finding, at_least
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
