"""Scaffnew on quadratics in rational arithmetic: one step, and the mean over all coins."""

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory._support.wording import shown
from fedtheory.rational import _checks
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import Vector, added, combination, difference, norm2, scaled

__all__ = ["ScaffnewState", "disagreement_map", "disagreement_radius", "mean_potentials"]


@final
@dataclass(frozen=True)
class ScaffnewState:
    """The state of Scaffnew: the models of the clients, and their control variates.

    >>> zero = (Fraction(0),)
    >>> ScaffnewState((zero, zero), (zero, zero)).models[1]
    (Fraction(0, 1),)
    """

    models: tuple[Vector, ...]
    variates: tuple[Vector, ...]

    def __post_init__(self) -> None:
        dim = len(_checks.vectors("models", self.models)[0])
        _checks.vectors("variates", self.variates, len(self.models), dim)


def scaffnew_step(
    fed: RationalQuadratics, state: ScaffnewState, *, step_size: Fraction, probability: Fraction, falls: bool
) -> ScaffnewState:
    """Return the state after a local step of all clients, and after averaging if the coin falls.

    With the coin of SCAFFOLD, fallen after one of one steps, the mean takes a gradient step:

    >>> from fedtheory.rational.quadratics import opposite_clients
    >>> start, zero = (Fraction(4),), (Fraction(0),)
    >>> at = ScaffnewState((start, start), (zero, zero))
    >>> scaffnew_step(opposite_clients(), at, step_size=Fraction(1, 4), probability=Fraction(1), falls=True).models
    ((Fraction(3, 1),), (Fraction(3, 1),))
    """
    gamma, p = _run(fed, state, step_size, probability)
    moved = []
    for k, (x, h) in enumerate(zip(state.models, state.variates, strict=True)):
        moved.append(difference(x, scaled(gamma, difference(fed.gradient(k, x), h))))
    if not validate.boolean("falls", falls):
        return ScaffnewState(tuple(moved), state.variates)
    mean, rate = combination(fed.weights, moved), p / gamma
    variates = [added(h, scaled(rate, difference(mean, x))) for x, h in zip(moved, state.variates, strict=True)]
    return ScaffnewState((mean,) * fed.num_clients, tuple(variates))


def potential(fed: RationalQuadratics, state: ScaffnewState, *, step_size: Fraction, probability: Fraction) -> Fraction:
    """Return ``mean |x_k - w*|^2 + (gamma/p)^2 mean |h_k - grad F_k(w*)|^2``, weighted means over the clients.

    >>> from fedtheory.rational.quadratics import opposite_clients
    >>> zero = (Fraction(0),)
    >>> known = {"step_size": Fraction(1), "probability": Fraction(1, 2)}
    >>> potential(opposite_clients(), ScaffnewState((zero,) * 2, (zero,) * 2), **known)
    Fraction(4, 1)
    """
    gamma, chance = _run(fed, state, step_size, probability)
    scale = (gamma / chance) ** 2
    best, at_best = fed.minimizer, fed.gradients(fed.minimizer)
    parts = zip(fed.weights, state.models, state.variates, at_best, strict=True)
    return sum(
        (p * (norm2(difference(x, best)) + scale * norm2(difference(h, g))) for p, x, h, g in parts), start=Fraction(0)
    )


def mean_potentials(
    fed: RationalQuadratics, state: ScaffnewState, num_steps: int, *, step_size: Fraction, probability: Fraction
) -> tuple[Fraction, ...]:
    """Return the expected potentials after 0, 1, ..., T steps, over all 2^T coins.

    Parameters
    ----------
    fed, state
        The clients, and where they begin.
    num_steps
        T, at most 16.
    step_size, probability
        gamma and p.

    Returns
    -------
    tuple
        T + 1 fractions.

    Raises
    ------
    TypeError, ValueError
        If T is above 16, and as ``scaffnew_step``.

    Examples
    --------
    >>> from fedtheory.rational.quadratics import opposite_clients
    >>> start, zero = (Fraction(4),), (Fraction(0),)
    >>> at = ScaffnewState((start, start), (zero, zero))
    >>> [str(one) for one in mean_potentials(opposite_clients(), at, 2, step_size=Fraction(1), probability=Fraction(1))]
    ['17', '0', '0']
    """
    gamma, p = _run(fed, state, step_size, probability)
    known = {"step_size": gamma, "probability": p}
    law, means = [(Fraction(1), state)], [potential(fed, state, **known)]
    for _ in range(validate.count("num_steps", num_steps, 0, 16)):
        after = []
        for chance, one in law:
            for falls, share in ((True, p), (False, 1 - p)):
                if share:
                    after.append((chance * share, scaffnew_step(fed, one, falls=falls, **known)))
        law = after
        means.append(sum((chance * potential(fed, one, **known) for chance, one in law), start=Fraction(0)))
    return tuple(means)


def disagreement_map(shrink: Fraction, probability: Fraction) -> tuple[Vector, Vector, Vector]:
    """Return how the second moments (E u^2, E uv, E v^2) of clients of one curvature move in a step.

    Parameters
    ----------
    shrink
        ``e = 1 - gamma a`` for the curvature a.
    probability
        p.

    Returns
    -------
    tuple
        Three rows, for ``u = x_k - mean`` and ``v = (gamma/p)(h_k - h_k*)``.

    Raises
    ------
    TypeError, ValueError
        If something is no finite number, or p is not in (0, 1].

    Examples
    --------
    With p = 1 nobody disagrees after a step, and e = 1/2 leaves half of the error of a control variate.

    >>> disagreement_map(Fraction(1, 2), Fraction(1))[2]
    (Fraction(1, 4), Fraction(0, 1), Fraction(0, 1))
    """
    e, p = _checks.rational("shrink", shrink), _checks.probability("probability", probability)
    away = 1 - p
    return (
        (away * e**2, 2 * away * e * p, away * p**2),
        (Fraction(0), away * e, away * p),
        (p * e**2, -2 * p * away * e, p * away**2 + away),
    )


def disagreement_radius(shrink: Fraction, probability: Fraction) -> float:
    """Return the spectral radius of ``disagreement_map``: the exact rate of the mean potential in the long run.

    Parameters
    ----------
    shrink, probability
        As of ``disagreement_map``.

    Returns
    -------
    float
        In floating point.

    Raises
    ------
    TypeError, ValueError
        As ``disagreement_map``, and if e squared is beyond floating point.

    Examples
    --------
    >>> disagreement_radius(Fraction(0), Fraction(1, 4)) == 57 / 64
    True
    """
    rows = disagreement_map(shrink, probability)
    try:
        matrix: Array = np.array(rows, dtype=np.float64)
    except OverflowError as error:
        message = f"shrink must be at most 1e154 in absolute value, got {shown(shrink)}"
        raise ValueError(message) from error
    return float(abs(np.linalg.eigvals(matrix)).max())


def _run(
    fed: RationalQuadratics, state: ScaffnewState, step_size: Fraction, probability: Fraction
) -> tuple[Fraction, Fraction]:
    """Return gamma and p of a state that fits the clients."""
    validate.instance("fed", fed, RationalQuadratics, "a RationalQuadratics")
    validate.instance("state", state, ScaffnewState, "a ScaffnewState")
    _checks.vectors("state.models", state.models, fed.num_clients, fed.dim)
    return _checks.positive("step_size", step_size), _checks.probability("probability", probability)
