"""An approximation of the error of loss-dependent selection: replace the random round by its conditional mean."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fedtheory import _validate
from fedtheory._validate import Array
from fedtheory.engine.schedule import Schedule, step_sizes
from fedtheory.exact._local_work import applied, local_work, spectra
from fedtheory.exact._quadratic import quadratic
from fedtheory.exact.frequencies import RanksByLoss, StateIndependent, selection_frequencies
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.selection.power_of_choice import PowerOfChoice

__all__ = ["mean_field_gap"]


def mean_field_gap(
    fed: QuadraticFederation,
    strategy: StateIndependent | RanksByLoss,
    num_rounds: int,
    local_steps: int,
    step_size: float | npt.ArrayLike | Schedule,
    initial: npt.ArrayLike,
    *,
    server_step_size: float = 1.0,
) -> Array:
    r"""Objective gap ``F(w_t) - F*`` of the mean-field recursion: an APPROXIMATION of the expected gap.

    ``w+ = w + sum_k q_k(w) (w_k - w)`` with the exact selection frequencies q(w) and noise-free local work. It ignores
    the variance of the selection and of the gradients, so it is good for small steps, and no bound of either sign.

    Parameters
    ----------
    fed
        Quadratic clients with any curvatures.
    strategy
        Any strategy whose selection law given the losses is known; adapow-d is followed round by round.
    num_rounds, local_steps, step_size, initial, server_step_size
        As in ``expected_gap``.

    Returns
    -------
    Array
        Shape (num_rounds + 1,).

    Raises
    ------
    TypeError
        If the federation is not quadratic or the selection law is not known.

    Examples
    --------
    Clients at +1 and -1: the one farther away has the larger loss and pulls by half the distance.

    >>> fed = QuadraticFederation([1.0, 1.0], [[1.0], [-1.0]], [0.5, 0.5])
    >>> mean_field_gap(fed, PowerOfChoice(1, 2), num_rounds=2, local_steps=1, step_size=0.5, initial=[2.0])
    array([2.     , 0.125  , 0.03125])
    """
    fed = quadratic(fed)
    num_rounds, local_steps = _validate.horizon("num_rounds", num_rounds), _validate.count("local_steps", local_steps)
    etas = step_sizes(step_size, num_rounds, local_steps).reshape(num_rounds, local_steps)
    scale = float(_validate.positive("server_step_size", server_step_size))
    model = _validate.array("initial", initial, shape=(fed.dim,))
    eigen = spectra(fed)
    by_round = _by_round(strategy, fed.num_clients, num_rounds)
    known: dict[bytes, Array] = {}
    gaps = [fed.excess(model)]
    for t, steps in enumerate(etas):
        if t == 0 or not np.array_equal(steps, etas[t - 1]):
            work = local_work(eigen, steps)
        frequencies = _frequencies(by_round[t], fed, model, known)
        model = model + scale * frequencies @ applied(work.pull, fed.centers - model)
        gaps.append(fed.excess(model))
    return np.array(gaps)


def _by_round(strategy: Any, num_clients: int, num_rounds: int) -> list[Any]:
    """Strategy of each round: a schedule of candidates is one pow-d after the other."""
    if not isinstance(strategy, PowerOfChoice) or isinstance(strategy.num_candidates, int | np.integer):
        return [strategy] * num_rounds
    counts = strategy.candidate_counts(num_clients, num_rounds)
    return [replace(strategy, num_candidates=int(d)) for d in np.broadcast_to(counts, num_rounds)]


def _frequencies(strategy: Any, fed: QuadraticFederation, model: Array, known: dict[bytes, Array]) -> Array:
    """Frequencies at the model; they depend on the ranking alone, and a run visits few rankings."""
    losses = fed.losses(model)
    order = np.argsort(-losses, kind="stable")
    ties = losses[order[1:]] == losses[order[:-1]]
    key = repr(strategy).encode() + order.tobytes() + ties.tobytes()
    if key not in known:
        known[key] = selection_frequencies(strategy, fed.weights, losses)
    return known[key]
