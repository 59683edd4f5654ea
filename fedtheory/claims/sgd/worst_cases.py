"""The bounds on clients that differ at the minimizer against certified worst cases."""

from typing import Any

import numpy as np

from fedtheory.bounds import sgd
from fedtheory.claims._confronted import confronted, curvatures, step_size, tenths
from fedtheory.rational.draws import whole


def _step(rng: np.random.Generator, longest: int = 3) -> dict[str, Any]:
    known = curvatures(rng) | {"distance2": tenths(rng, 1, 90), "zeta2": tenths(rng, 1, 90)}
    return known | {"step_size": step_size(rng, longest / known["L"])}


def _drawn(rng: np.random.Generator) -> dict[str, Any]:
    return _step(rng) | {"num_selected": whole(rng, 1, 3)}


def _subset(rng: np.random.Generator) -> dict[str, Any]:
    num_clients = whole(rng, 2, 9)
    return _step(rng) | {"num_clients": num_clients, "num_selected": whole(rng, 1, num_clients)}


def _round(rng: np.random.Generator) -> dict[str, Any]:
    return _step(rng, 1) | {"local_steps": whole(rng, 1, 3)}


drawn_step = confronted(
    "sgd:drawn-step-worst-case",
    "No federation exceeds the bound on a step of m clients drawn with replacement",
    sgd.drawn_step,
    _drawn,
    looseness=1.01,
)
subset_step = confronted(
    "sgd:subset-step-worst-case",
    "No federation exceeds the bound on a step of m of K clients",
    sgd.subset_step,
    _subset,
    looseness=1.01,
)
local_steps_round = confronted(
    "sgd:local-steps-round-worst-case",
    "No federation exceeds the bound on a round of local steps with bounded heterogeneity at w*",
    sgd.local_steps_round,
    _round,
    looseness=1.01,
)
