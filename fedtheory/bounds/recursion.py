"""One-step recursions of theorems, unrolled over any sequence of step sizes."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory.errors import AssumptionViolated
from fedtheory.theorem import Bound, HalvingSteps
from fedtheory.theorem.implications import consequences


def elapsed_step_sizes(step_sizes: npt.ArrayLike, local_steps: int) -> Array:
    """Sum of the round's earlier step sizes, for every step; shape (T,), 0 at the first step of each round.

    The last round may be shorter than ``local_steps``.

    >>> elapsed_step_sizes([0.5, 0.25, 0.5, 0.25, 0.125], local_steps=2)
    array([0. , 0.5, 0. , 0.5, 0. ])
    """
    sizes = validate.positive("step_sizes", validate.array("step_sizes", step_sizes, ndim=1))
    tau = min(validate.count("local_steps", local_steps), max(sizes.size, 1))
    # Summed within each round, because the difference of two long sums would lose digits.
    padded = np.zeros(-(-sizes.size // tau) * tau)
    padded[: sizes.size] = sizes
    rounds = padded.reshape(-1, tau)
    before = np.zeros_like(rounds)
    before[:, 1:] = np.cumsum(rounds[:, :-1], axis=1)
    elapsed: Array = before.reshape(-1)[: sizes.size]
    return elapsed


def unroll(
    recursion: Bound, *, initial_distance2: float, step_sizes: npt.ArrayLike, local_steps: int, **constants
) -> Array:
    """Bounds on ``E |w_t - w*|^2`` for t = 0, ..., T from T applications of a one-step recursion; shape (T + 1,).

    Parameters
    ----------
    recursion
        A one-step bound that is affine in its first argument ``distance2``, with the proportional part in its summand
        ``contraction`` (for example ``power_of_choice.one_step`` or ``power_of_choice.weighted_one_step``).
    step_sizes
        The step size of every local step, shape (T,).
    **constants
        Other arguments of the recursion, each a number or, if it changes from step to step, an array of shape (T,).

    Examples
    --------
    A round of two steps 1/16 with the constants of ``power_of_choice.one_step``: the first step gives
    ``(7/8) 2 + 208/256 + 1/2 = 49/16``, the second to ``(7/8) 49/16 + 43 * 65/4096 + 208/256 + 1/2``.

    >>> from fedtheory.bounds.power_of_choice import one_step
    >>> unroll(one_step, initial_distance2=2, step_sizes=[1 / 16, 1 / 16], local_steps=2, mu=1, L=4, num_selected=2,
    ...        G2=43, sigma2=32, objective_gap=3, rho_diagonal=8 / 3, rho_tilde=4)
    array([2.        , 3.0625    , 4.67456055])
    """
    distance2 = validate.double("initial_distance2", validate.nonnegative("initial_distance2", initial_distance2))
    sizes = validate.positive("step_sizes", validate.array("step_sizes", step_sizes, ndim=1))
    for name, value in constants.items():
        if (shape := validate.unmasked(name, value).shape) not in ((), (1,), sizes.shape):
            message = f"{name} must be a number or one for each of the {sizes.size} steps, got shape {shape}"
            raise ValueError(message)
    known = {"elapsed_step_size": elapsed_step_sizes(sizes, local_steps), "local_steps": local_steps}
    validate.instance("recursion", recursion, Bound, "a one-step bound")
    takes = inspect.signature(recursion).parameters
    wanted = {name: value for name, value in known.items() if name in takes}
    summands = recursion.terms(1.0, step_size=sizes, **wanted, **constants)
    for violation in _against_the_run(recursion, {**constants, "initial_distance2": distance2}, sizes, local_steps):
        message = f"{recursion.short_name} needs {violation}"
        raise AssumptionViolated(message)
    slopes = np.broadcast_to(summands.pop("contraction"), sizes.shape).tolist()
    offsets = np.broadcast_to(np.asarray(sum(summands.values()), dtype=np.float64), sizes.shape).tolist()
    bounds = [distance2]
    # If 0 <= Delta_t <= U, then Delta_{t+1} <= max(a, 0) U + b, but not necessarily a U + b.
    for slope, offset in zip(slopes, offsets, strict=True):
        distance2 = max(slope, 0.0) * distance2 + offset
        bounds.append(distance2)
    return np.array(bounds)


def _against_the_run(recursion: Bound, constants: dict[str, Any], sizes: Array, local_steps: int) -> Iterator[str]:
    """Yield violated hypotheses about all step sizes of a round and about the start of the run."""
    run = {"step_sizes": sizes, "local_steps": local_steps}
    steps = [known for known in recursion.hypotheses if isinstance(known, HalvingSteps)]
    yield from filter(None, (hypothesis.violation(run) for hypothesis in steps))
    if sizes.size:
        # Constants that change from step to step enter with their first value.
        first = {name: np.ravel(value)[0] if np.ndim(value) else value for name, value in constants.items()}
        implied = consequences(recursion.hypotheses, tuple(first))
        yield from filter(None, (hypothesis.violation(first) for hypothesis in implied))


def unrolled_gap(
    recursion: Bound, *, initial_distance2: float, step_sizes: npt.ArrayLike, local_steps: int, L: float, **constants
) -> Array:
    """Bounds on ``E F(w_t) - F*`` for t = 0, ..., T: ``L/2`` times those of ``unroll`` (Power-of-Choice, (67)).

    The instance of ``unroll``, with L/2 = 2:

    >>> from fedtheory.bounds.power_of_choice import one_step
    >>> unrolled_gap(one_step, initial_distance2=2, step_sizes=[1 / 16, 1 / 16], local_steps=2, mu=1, L=4,
    ...              num_selected=2, G2=43, sigma2=32, objective_gap=3, rho_diagonal=8 / 3, rho_tilde=4)
    array([4.        , 6.125     , 9.34912109])
    """
    distances2 = unroll(
        recursion, initial_distance2=initial_distance2, step_sizes=step_sizes, local_steps=local_steps, L=L, **constants
    )
    gaps: Array = validate.double("L", L) / 2 * distances2
    return gaps
