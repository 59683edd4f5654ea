"""The bounds of Li et al., and those without bounded gradients, against certified worst cases."""

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import fedavg as li
from fedtheory.claims._confronted import confronted, draw_class, step_size
from fedtheory.rational.draws import whole

_G2 = "the worst case is that without a bound on gradients, and the theorem pays for one"


def _free(rng: np.random.Generator) -> dict[str, Any]:
    given = draw_class(rng)
    return given | {"step_size": step_size(rng, 1 / given["L"])}


def _round(rng: np.random.Generator) -> dict[str, Any]:
    return _free(rng) | {"local_steps": whole(rng, 1, 3)}


def _rounds(rng: np.random.Generator) -> dict[str, Any]:
    given = _free(rng)
    given["initial_distance2"] = given.pop("distance2")
    return given | {"local_steps": whole(rng, 1, 2), "num_rounds": whole(rng, 1, 3)}


def _sampled(rng: np.random.Generator) -> dict[str, Any]:
    num_clients = whole(rng, 2, 9)
    return _free(rng) | {"num_clients": num_clients, "num_selected": whole(rng, 1, num_clients)}


def _loss(rng: np.random.Generator) -> dict[str, Any]:
    given = _free(rng)
    del given["objective_gap"]
    return given


def _step(rng: np.random.Generator) -> dict[str, Any]:
    given = draw_class(rng) | {"weighted_sigma2": Fraction(0), "local_steps": whole(rng, 1, 3)}
    least = 2 * given["mu"] * given["objective_gap"]
    return given | {"G2": least * whole(rng, 1, 9), "step_size": step_size(rng, 1 / (4 * given["L"]))}


def _horizon(rng: np.random.Generator) -> dict[str, Any]:
    """Draw a theorem's constants, with a bound on gradients that no path of the worst federation exceeds by much."""
    given = draw_class(rng) | {"local_steps": whole(rng, 1, 2), "weighted_sigma2": Fraction(0)}
    given["initial_distance2"] = start = given.pop("distance2")
    G2 = given["L"] ** 2 * (start + 2 * given["objective_gap"] / given["mu"])
    return given | {"num_steps": given["local_steps"] * whole(rng, 1, 2), "G2": G2}


def _drawn(rng: np.random.Generator) -> dict[str, Any]:
    """Draw a single round: the outcomes of draws multiply."""
    given = _horizon(rng)
    return given | {"num_selected": whole(rng, 1, 2), "num_steps": given["local_steps"]}


def _subset(rng: np.random.Generator) -> dict[str, Any]:
    return _drawn(rng) | {"num_clients": whole(rng, 2, 3)}


def _drawn_from_power_of_choice(rng: np.random.Generator) -> dict[str, Any]:
    given = _drawn(rng)
    return given | {"sigma2": given.pop("weighted_sigma2")}


one_round = confronted(
    "fedavg:one-round-worst-case",
    "No federation exceeds the bound on a round of all clients without bounded gradients",
    li.one_round,
    _round,
    looseness=1.01,
)
fixed_step_distance = confronted(
    "fedavg:fixed-step-distance-worst-case",
    "No federation exceeds the bound on rounds of all clients without bounded gradients",
    li.fixed_step_distance,
    _rounds,
    looseness=1.01,
)
sampled_step = confronted(
    "fedavg:sampled-step-worst-case",
    "No federation exceeds the bound on a step of m of N clients without bounded gradients",
    li.sampled_step,
    _sampled,
    looseness=1.01,
)
gap_after_step = confronted(
    "fedavg:gap-after-step-worst-case",
    "No federation exceeds the bound on the loss after a step of all clients",
    li.gap_after_step,
    _loss,
    looseness=1.01,
)
one_step = confronted(
    "fedavg:one-step-worst-case",
    "No federation exceeds the bound on a round's first step, even where no bound on gradients binds",
    li.one_step,
    _step,
    looseness=1.01,
)
full_participation = confronted(
    "fedavg:full-participation-worst-case",
    "No federation exceeds Theorem 1 when all clients take part, even where no bound on gradients binds",
    li.full_participation_gap,
    _horizon,
    looseness=2,
    remark="the promise is proved by a recursion whose heterogeneity is not there for one local step",
)
with_replacement = confronted(
    "fedavg:with-replacement-worst-case",
    "No federation of two clients exceeds Theorem 2",
    li.with_replacement_gap,
    _drawn,
    looseness=4,
    remark=_G2,
)
without_replacement = confronted(
    "fedavg:without-replacement-worst-case",
    "No federation of two or three clients exceeds Theorem 3",
    li.without_replacement_gap,
    _subset,
    looseness=2,
    remark=_G2,
)
decaying_steps = confronted(
    "fedavg:decaying-steps-worst-case",
    "No federation of two clients exceeds Power-of-Choice's theorem at skew 1",
    li.decaying_steps_gap,
    _drawn_from_power_of_choice,
    looseness=64,
    remark=_G2,
)
