"""FedALIGN: theta_T and rho_T computed from the renormalized weights p'_k of a run."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory._support.wording import format_number
from fedtheory.bounds._step_sizes import curvatures


def _of_sum_one(weights: npt.ArrayLike) -> Array:
    shares = validate.array("weights", weights)
    if shares.ndim == 0:
        message = f"weights must have an entry for each client, got {shares}"
        raise ValueError(message)
    validate.nonnegative("weights", shares)
    totals = shares.sum(axis=-1)
    wrong = abs(totals - 1) > 1e-12
    if wrong.any():
        message = f"weights must sum to 1 over the clients of every round, got {totals[wrong].flat[0]}"
        raise ValueError(message)
    return shares


def priority_weights(weights: npt.ArrayLike, priority: npt.ArrayLike) -> Array:
    """Total weight of the priority clients, ``1/(1 + s)``, shape (...).

    ``weights`` are the aggregation weights ``p'_k I_k``, of shape (..., K) and sum 1; ``priority`` has shape (K,).

    >>> priority_weights([[0.5, 0.5, 0.0]], [True, False, False])
    array([0.5])
    """
    shares = _of_sum_one(weights)
    result: Array = shares @ validate.mask("priority", priority, shares.shape[-1:]).astype(np.float64)
    return result


def included_gaps(weights: npt.ArrayLike, priority: npt.ArrayLike, client_gaps: npt.ArrayLike) -> Array:
    """Included gap ``sum_{k not in P} p_k I_k Gamma_k/(1 + s)`` in units of the loss, shape (...).

    ``weights`` and ``priority`` are as in ``priority_weights``; ``client_gaps`` are the ``Gamma_k = F_k(w*) - F_k*`` of
    all clients, shape (K,).

    >>> included_gaps([[0.5, 0.5, 0.0]], [True, False, False], [9.0, 3.0, 7.0])
    array([1.5])
    """
    shares = _of_sum_one(weights)
    gaps = validate.array("client_gaps", validate.nonnegative("client_gaps", client_gaps), shape=shares.shape[-1:])
    result: Array = shares @ np.where(validate.mask("priority", priority, gaps.shape), 0.0, gaps)
    return result


def theta(priority_weights, *, gamma, local_steps: int, first_step: int = 0):
    r"""theta_T of (7) at the end of every round, ``1/(T + gamma - 2) sum_{i < T} 1/(1 + s_i)``; shape (..., R).

    ``priority_weights`` are ``1/(1 + s)`` in each of R rounds, or its expectation: shape (..., R), or a list of exact
    rationals. ``gamma`` is the delay of the step sizes, more than 2. With the ``local_steps`` E the horizons are T = E,
    2 E, ... A ``first_step`` of 1 omits step 0, as the printed sums do.

    Two rounds of two steps with gamma = 8, s = 0 in the first and s = 1 in the second: 2/(2 + 6) and (2 + 1)/(4 + 6).

    >>> theta([1.0, 0.5], gamma=8.0, local_steps=2)
    array([0.25, 0.3 ])
    >>> theta([1.0, 0.5], gamma=8.0, local_steps=2, first_step=1)
    array([0.125, 0.2  ])
    """
    return _averaged("priority_weights", priority_weights, gamma, local_steps, first_step)


def rho(included_gaps, *, mu, L, gamma, local_steps: int, first_step: int = 0):
    r"""rho_T of (8) at the end of every round, ``2 L/(mu (T + gamma - 2)) sum_{i < T} (included gap of step i)``.

    ``included_gaps`` are ``sum_{k not in P} p_k I_k Gamma_k/(1 + s)`` in each round, or its expectation. The other
    arguments are as in ``theta``.

    With mu = 2, L = 3, gamma = 12, E = 2 and included gaps of 4 and 3: ``3 * 2 * 4 / 12`` and ``3 * 2 (4 + 3) / 14``.

    >>> rho([4.0, 3.0], mu=2.0, L=3.0, gamma=12.0, local_steps=2)
    array([2., 3.])
    """
    mean = _averaged("included_gaps", included_gaps, gamma, local_steps, first_step)
    if isinstance(mean, list):
        mu, L = validate.curvatures(mu, L)
        return [2 * value * L / mu for value in mean]
    mu, L = curvatures(mu, L)
    with np.errstate(over="ignore"):
        return 2 * mean * L / mu


def _averaged(name: str, values, gamma, local_steps: int, first_step: int):
    steps = validate.count("local_steps", local_steps)
    skipped = validate.count("first_step", first_step, 0, 1)
    if not validate.one("gamma", validate.finite("gamma", gamma)) > 2:
        message = f"gamma must be above 2, got {format_number(gamma)}"
        raise ValueError(message)
    if isinstance(values, list | tuple) and all(isinstance(value, int | Fraction) for value in values):
        sums = itertools.accumulate(validate.nonnegative(name, value) for value in values)
        totals = [steps * total - skipped * values[0] for total in sums]
        return [Fraction(total) / (steps * number + gamma - 2) for number, total in enumerate(totals, start=1)]
    rounds = validate.array(name, validate.nonnegative(name, values))
    if rounds.ndim == 0:
        message = f"{name} must have an entry for each round, got the number {rounds}"
        raise ValueError(message)
    # As doubles, since products of counts could overflow 64-bit integers.
    length = validate.double("local_steps", steps)
    until: Array = length * np.cumsum(rounds, axis=-1) - skipped * rounds[..., :1]
    result: Array = until / (length * np.arange(1, rounds.shape[-1] + 1) + validate.double("gamma", gamma) - 2)
    return result
