"""Federated averaging with a fixed step size converges linearly, to a point of its own."""

from fedtheory.bounds.stationary._words import PAPER
from fedtheory.theorem.arithmetic import maximum, short_of_one
from fedtheory.theorem.assumptions import EXACT_GRADIENTS, Smooth, StronglyConvex
from fedtheory.theorem.paper import Summands, states
from fedtheory.theorem.scheme import Scheme

__all__ = ["averaging_distance"]


@states(
    PAPER,
    "Appendix",
    equation="federated averaging",
    form="derived",
    assumes=(Smooth(), StronglyConvex(), EXACT_GRADIENTS),
    schemes=(Scheme("all", "weighted"),),
)
def averaging_distance(num_rounds, *, step_size, mu, L, local_steps, stationary_distance2) -> Summands:
    r"""Bound on ``|w_R - w_inf|^2``, the squared distance from the stationary point of averaging all clients.

    .. math::
        \max\{|1-\eta\mu|,|1-\eta L|\}^{2\tau R}\|w_0-w_\infty\|^2

    It contracts for ``0 < eta < 2/L``. Where clients take their own numbers of steps, the least of these is meant by
    tau. All clients of curvature mu, or L, attain it.

    Notes
    -----
    A gradient step contracts distances by the maximum, a mean of contractions is one, and it has one fixed point.

    Examples
    --------
    >>> averaging_distance(2, step_size=1 / 4, mu=1, L=3, local_steps=1, stationary_distance2=256)
    81.0
    """
    rate = maximum(short_of_one(step_size, mu) ** 2, short_of_one(step_size, L) ** 2)
    return {"left": rate ** (local_steps * num_rounds) * stationary_distance2}
