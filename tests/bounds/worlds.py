"""Random constants as arguments of bounds, and the hypotheses that they violate."""

import inspect
from collections.abc import Callable
from fractions import Fraction as Q
from typing import Any

import numpy as np
import pytest

from fedtheory.instances.constants import Constants

# Constants that meet the hypotheses of all bounds of Power-of-Choice.
WORLD: dict[str, Any] = {
    "num_steps": 40, "step_size": Q(1, 16), "mu": Q(1, 2), "L": Q(3), "local_steps": 4, "num_selected": 2,
    "G2": Q(17), "sigma2": Q(5), "objective_gap": Q(2), "rho_diagonal": Q(3, 2), "rho_bar": Q(3, 2),
    "rho_tilde": Q(9, 4), "initial_distance2": Q(11), "initial_gap": Q(9), "squared_weights": Q(1, 2),
}  # fmt: skip


def pick(bound, world):
    """The arguments of a bound."""
    return {name: world[name] for name in bound.domains if name in world}


def generator(*words):
    """A random generator for some words."""
    return np.random.default_rng([*" ".join(map(str, words)).encode()])


def constants(paper, rng, *, num_selected=None, **fixed):
    """Constants of a package of ``fedtheory.bounds``, drawn when they are read; ``all`` clients can be selected."""
    if num_selected is not None and paper != "fedprox":  # whose roots are rational for its own numbers of clients
        fixed |= {"left_out": 0} if num_selected == "all" else {"num_selected": num_selected}
    return Constants(rng, paper.replace("_", "-"), fixed)


def world(paper, rng, **edge):
    """All constants of a package."""
    drawn = constants(paper, rng, **edge)
    return {name: drawn[name] for name in drawn.laws}


def draw(name, bound, rng, **edge):
    """Constants for a bound; it is left out by its name where an argument has no law."""
    drawn = constants(name.split(".")[0], rng, **edge)
    missing = [argument for argument in bound.domains if argument not in drawn]
    if missing:
        pytest.skip(f"{name} has no law in fedtheory/instances/constants.py: {', '.join(missing)}")
    return pick(bound, drawn)


def by_form(bound):
    """The identifier of a bound and of one of its forms."""
    return f"{bound.__name__}-{bound.statement.form}"


def named(bound, first, rest):
    """Arguments of a call by name."""
    return dict(inspect.signature(bound).bind(*first, **rest).arguments)


def contradictions(world):
    """What the hypotheses imply and these numbers deny."""
    world = {key: value if isinstance(value, list) else Q(value) for key, value in world.items()}
    distance2 = world.get("distance2", world.get("initial_distance2"))
    gap, start = world.get("gap", world.get("initial_gap")), world.get("initial_distance2", 0)
    rho = world.get("rho_diagonal", world.get("rho_bar"))
    consequences: dict[str, Callable[..., bool]] = {
        "mu <= L": lambda mu, L: mu <= L,
        "rho <= L/mu": lambda mu, L: rho is None or rho <= L / mu,
        "mu/2 |x - x*|^2 <= gap <= L/2 |x - x*|^2": lambda mu, L: (
            gap is None or distance2 is None or mu / 2 * distance2 <= gap <= L / 2 * distance2
        ),
        "sigma2 <= G2": lambda sigma2, G2: sigma2 <= G2,
        # The PL inequality at a round's start, averaged over all clients and over the selected ones.
        "2 mu (F - F* + Gamma) <= G2": lambda mu, G2, objective_gap: (
            max(1, rho or 0) * 2 * mu * (world.get("initial_gap", mu / 2 * start) + objective_gap) <= G2
        ),
        "W^2 <= S2 <= W <= 1": lambda max_weight, sum_squared_weights: (
            max_weight**2 <= sum_squared_weights <= max_weight <= 1
        ),
        "|sum w_i grad f_i|^2 <= sum w_i |grad f_i|^2": lambda gradient2, mean_gradient2: gradient2 <= mean_gradient2,
        "sum w_i^2 Z_i <= W sum w_i Z_i": lambda per_client_gap, max_weight, objective_gap: (
            per_client_gap <= max_weight * objective_gap
        ),
        "2 mu Gamma_k <= G2 (1 + s)/s on average": lambda mu, G2, included_gap, priority_weight: (
            2 * mu * included_gap <= (1 - priority_weight) * G2
        ),
    }
    readable = {text: inspect.signature(holds).parameters for text, holds in consequences.items()}
    return [
        text
        for text, names in readable.items()
        if set(names) <= set(world) and not consequences[text](**{name: world[name] for name in names})
    ]
