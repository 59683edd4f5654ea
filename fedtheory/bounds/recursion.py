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
from fedtheory.theorem.assumptions import HalvingSteps
from fedtheory.theorem.bound import Bound
from fedtheory.theorem.implications import consequences

__all__ = ["elapsed_step_sizes", "unroll", "unrolled_gap"]


def elapsed_step_sizes(step_sizes: npt.ArrayLike, local_steps: int) -> Array:
    """Sum of the step sizes already used in the round, for every step; shape (T,).

    Parameters
    ----------
    step_sizes
        Of all local steps, positive, shape (T,).
    local_steps
        Steps per round; the last round may be shorter.

    Returns
    -------
    Array
        Shape (T,); 0 at the first step of each round.

    Raises
    ------
    ValueError
        If a step size is not positive, or ``local_steps`` is not a whole number.

    Examples
    --------
    >>> elapsed_step_sizes([0.5, 0.25, 0.5, 0.25, 0.125], local_steps=2)
    array([0. , 0.5, 0. , 0.5, 0. ])
    """
    sizes = validate.positive("step_sizes", validate.array("step_sizes", step_sizes, ndim=1))
    tau = min(validate.count("local_steps", local_steps), max(sizes.size, 1))
    # Round by round, because the difference of two long sums would lose digits.
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
    """Bounds on ``E |w_t - w*|^2`` for t = 0, ..., T: a one-step recursion applied T times.

    Parameters
    ----------
    recursion
        A one-step bound, affine in its first argument ``distance2``, with the summand ``contraction`` proportional to
        it (such as ``power_of_choice.one_step``, its printed form, or ``power_of_choice.weighted_one_step``).
    initial_distance2
        Squared distance of the first model from w*.
    step_sizes
        The step size of every local step, shape (T,).
    local_steps
        Local steps per round; rounds begin at the multiples of it.
    **constants
        The other arguments of the recursion, each a number or an array of shape (T,) when it changes from step to step.

    Returns
    -------
    Array
        Shape (T + 1,).

    Raises
    ------
    AssumptionViolated
        If a hypothesis of the recursion fails at some step, also one about all step sizes of a round; or if no run can
        start at this distance under the given bound on gradients.

    Notes
    -----
    A recursion ``Delta_{t+1} <= a Delta_t + b`` may have a negative slope a where steps are long. From
    ``0 <= Delta_t <= U`` follows ``Delta_{t+1} <= max(a, 0) U + b``, and not ``a U + b``: the larger U is, the less an
    upper bound that falls with Delta_t says. So slopes are clipped at 0.

    Examples
    --------
    A round of two steps 1/16 with the constants of ``power_of_choice.one_step``: the first goes to
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
    validate.instance("recursion", recursion, Bound, "a bound of one step")
    takes = inspect.signature(recursion).parameters
    wanted = {name: value for name, value in known.items() if name in takes}
    summands = recursion.terms(1.0, step_size=sizes, **wanted, **constants)
    for violation in _against_the_run(recursion, {**constants, "initial_distance2": distance2}, sizes, local_steps):
        message = f"{recursion.statement.number} needs {violation}"
        raise AssumptionViolated(message)
    slopes = np.broadcast_to(summands.pop("contraction"), sizes.shape).tolist()
    offsets = np.broadcast_to(np.asarray(sum(summands.values()), dtype=np.float64), sizes.shape).tolist()
    bounds = [distance2]
    for slope, offset in zip(slopes, offsets, strict=True):
        distance2 = max(slope, 0.0) * distance2 + offset
        bounds.append(distance2)
    return np.array(bounds)


def _against_the_run(recursion: Bound, constants: dict[str, Any], sizes: Array, local_steps: int) -> Iterator[str]:
    """Yield what only the whole run shows: its step sizes, and whether its start is possible."""
    run = {"step_sizes": sizes, "local_steps": local_steps}
    steps = [known for known in recursion.hypotheses if isinstance(known, HalvingSteps)]
    yield from filter(None, (hypothesis.violation(run) for hypothesis in steps))
    if sizes.size:
        # Constants that change from step to step meet the start with their first value.
        first = {name: np.ravel(value)[0] if np.ndim(value) else value for name, value in constants.items()}
        implied = consequences(recursion.hypotheses, tuple(first))
        yield from filter(None, (hypothesis.violation(first) for hypothesis in implied))


def unrolled_gap(
    recursion: Bound, *, initial_distance2: float, step_sizes: npt.ArrayLike, local_steps: int, L: float, **constants
) -> Array:
    """Bounds on ``E F(w_t) - F*`` for t = 0, ..., T: ``L/2`` times those of ``unroll`` (Power-of-Choice, (67)).

    Parameters
    ----------
    recursion
        A bound on the squared distance after one step, such as ``power_of_choice.one_step``.
    initial_distance2
        Squared distance of the first model from w*.
    step_sizes
        Of all local steps, shape (T,).
    local_steps
        Steps per round.
    L
        Smoothness of F.
    constants
        What else the recursion takes, by name.

    Returns
    -------
    Array
        Shape (T + 1,), in units of F; entry 0 is of the first model.

    Raises
    ------
    ValueError
        If the recursion refuses its arguments.
    AssumptionViolated
        If one of its hypotheses does not hold.

    Examples
    --------
    The instance of ``unroll``, with L/2 = 2:

    >>> from fedtheory.bounds.power_of_choice import one_step
    >>> unrolled_gap(one_step, initial_distance2=2, step_sizes=[1 / 16, 1 / 16], local_steps=2, mu=1, L=4,
    ...              num_selected=2, G2=43, sigma2=32, objective_gap=3, rho_diagonal=8 / 3, rho_tilde=4)
    array([4.        , 6.125     , 9.34912109])
    """
    distances2 = unroll(
        recursion,
        initial_distance2=initial_distance2,
        step_sizes=step_sizes,
        local_steps=local_steps,
        L=L,
        **constants,
    )
    gaps: Array = validate.double("L", L) / 2 * distances2
    return gaps
