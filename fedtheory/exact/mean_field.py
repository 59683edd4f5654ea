"""Mean-field approximation of the error of loss-dependent selection."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.threads import pinned
from fedtheory._support.validate import Array
from fedtheory.engine.schedule import Schedule, step_sizes
from fedtheory.exact._arguments import frequency_law, known_law, quadratic
from fedtheory.exact._local_moments import applied, spectra, works
from fedtheory.exact._ranking import remembering
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.selection.laws import Fixed, KnowsItsLaw, Ranked, Scheduled

__all__ = ["mean_field_gap"]


@pinned
def mean_field_gap(
    fed: QuadraticFederation,
    strategy: KnowsItsLaw,
    num_rounds: int,
    local_steps: int,
    step_size: float | npt.ArrayLike | Schedule,
    initial: npt.ArrayLike,
    *,
    server_step_size: float = 1.0,
) -> Array:
    r"""Objective gap ``F(w_t) - F*`` of the mean-field recursion, an APPROXIMATION of the expected gap.

    The recursion ``w+ = w + sum_k q_k(w) (w_k - w)`` ignores the variance of the selection and of the gradients. It is
    accurate for small steps, and neither an upper nor a lower bound. The shape is (num_rounds + 1,).

    Parameters
    ----------
    fed
        Quadratic clients with any curvatures.
    strategy
        Strategy with a known law given the losses; adapow-d changes it from round to round.
    num_rounds, local_steps, step_size, initial, server_step_size
        As in ``expected_gap``.

    Examples
    --------
    Clients at +1 and -1: the one farther away has the larger loss, and the model moves half of the way to it.

    >>> from fedtheory.selection.power_of_choice import PowerOfChoice
    >>> fed = QuadraticFederation([1.0, 1.0], [[1.0], [-1.0]], [0.5, 0.5])
    >>> mean_field_gap(fed, PowerOfChoice(1, 2), num_rounds=2, local_steps=1, step_size=0.5, initial=[2.0])
    array([2.     , 0.125  , 0.03125])
    """
    fed = quadratic(fed)
    num_rounds, local_steps = validate.horizon("num_rounds", num_rounds), validate.count("local_steps", local_steps)
    etas = step_sizes(step_size, num_rounds, local_steps).reshape(num_rounds, local_steps)
    scale = validate.double("server_step_size", validate.positive("server_step_size", server_step_size))
    models, gaps = np.empty((num_rounds + 1, fed.dim)), np.full(num_rounds + 1, np.inf)
    models[0] = validate.array("initial", initial, shape=(fed.dim,))
    by_round = _by_round(strategy, fed.weights, num_rounds)
    with np.errstate(over="ignore", invalid="ignore"):
        for t, work in enumerate(works(spectra(fed), etas, 0.0)):
            w = models[t]
            frequencies = _frequencies(by_round[t], fed, w)
            models[t + 1] = w + scale * frequencies @ applied(work.pull, fed.centers - w)
            if not np.isfinite(models[t + 1]).all():
                models = models[: t + 1]
                break
        found = fed.excess(models)
    gaps[: found.size] = np.where(np.isfinite(found), found, np.inf)
    return gaps


def _by_round(strategy: object, weights: Array, num_rounds: int) -> list[Fixed | Ranked]:
    law = known_law(strategy, weights)
    laws = law.over(num_rounds) if isinstance(law, Scheduled) else [frequency_law(strategy, weights)] * num_rounds
    different = {id(one): one for one in laws}
    remembered = {key: remembering(one) if isinstance(one, Ranked) else one for key, one in different.items()}
    return [remembered[id(one)] for one in laws]


def _frequencies(law: Fixed | Ranked, fed: QuadraticFederation, w: Array) -> Array:
    return law.frequencies(fed.losses(w)) if isinstance(law, Ranked) else law.mean
