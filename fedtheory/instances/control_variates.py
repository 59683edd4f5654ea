"""SCAFFOLD and Scaffnew on quadratics in exact arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

from fedtheory._support import validate
from fedtheory._support.wording import format_number
from fedtheory.arithmetic.matrices import solved
from fedtheory.instances import _checks
from fedtheory.instances.federations import RationalQuadratics
from fedtheory.instances.vectors import Vector, combination, inner, norm2, vector

__all__ = ["ScaffnewState", "disagreement_map", "disagreement_radius", "mean_potentials"]


@final
@dataclass(frozen=True)
class Controlled:
    """The state of SCAFFOLD: the model, the server's control variate, and the clients'.

    >>> Controlled(vector(0), vector(0), (vector(0), vector(0))).clients
    ((Fraction(0, 1),), (Fraction(0, 1),))
    """

    model: Vector
    server: Vector
    clients: tuple[Vector, ...]

    def __post_init__(self) -> None:
        model = _checks.vector("model", self.model)
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "server", _checks.vector("server", self.server, len(model)))
        object.__setattr__(self, "clients", _checks.vectors("clients", self.clients, size=len(model)))


def scaffold_round(
    fed: RationalQuadratics, state: Controlled, *, step_size: Fraction, local_steps: int, option: int = 2
) -> Controlled:
    """Return the state after a round of all clients.

    Two parabolas with minimizers 0 and 5 from 0: the second moves to ``5/2 + 5/4`` with gradients whose mean is -15.

    >>> fed = RationalQuadratics((vector(1), vector(4)), (vector(0), vector(5)), vector("1/2", "1/2"), vector(0, 0))
    >>> start = Controlled(vector(0), vector(0), (vector(0), vector(0)))
    >>> after = scaffold_round(fed, start, step_size=Fraction(1, 8), local_steps=2)
    >>> after.model, after.clients[1]
    ((Fraction(15, 8),), (Fraction(-15, 1),))
    """
    _checks.vectors("state.clients", state.clients, fed.num_clients, fed.dim)
    # an int, since rationals gain digits in every step
    eta, tau = _checks.positive("step_size", step_size), validate.size("local_steps", local_steps)
    option, x, ends, means = validate.count("option", option, 1, 2), state.model, [], []
    for k, c_k in enumerate(state.clients):
        y = x
        for _ in range(tau):
            y -= eta * (fed.gradient(k, y) + state.server - c_k)
        ends.append(y)
        means.append((x - y) / (tau * eta) + c_k - state.server)
    variates = fed.gradients(x) if option == 1 else tuple(means)
    moves = [new - old for new, old in zip(variates, state.clients, strict=True)]
    return Controlled(combination(fed.weights, ends), state.server + combination(fed.weights, moves), variates)


def control_potential(fed: RationalQuadratics, state: Controlled, weight: Fraction) -> Fraction:
    """Return ``|w - w*|^2 + weight mean |c_k - c - grad F_k(w*)|^2``.

    For two equal parabolas with exact control variates it is the squared distance:

    >>> from fedtheory.instances.federations import opposite_clients
    >>> control_potential(opposite_clients(), Controlled(vector(3), vector(0), (vector(-1), vector(1))), Fraction(1))
    Fraction(9, 1)
    """
    clients = _checks.vectors("state.clients", state.clients, fed.num_clients, fed.dim)
    errors = [norm2(c_k - state.server - h) for c_k, h in zip(clients, fed.gradients(fed.minimizer), strict=True)]
    return norm2(state.model - fed.minimizer) + _checks.rational("weight", weight) * inner(fed.weights, errors)


def scaffold_limit(
    fed: RationalQuadratics, offset: Vector, *, step_size: Fraction, local_steps: int, option: int = 2
) -> Vector:
    """Return the stationary model for a server's control variate that differs from the clients' mean by ``offset``.

    The offset does not change in a round. One client of curvature 2 around 3: the limit differs by ``offset/2``.

    >>> fed = RationalQuadratics((vector(2),), (vector(3),), vector(1), vector(0))
    >>> scaffold_limit(fed, vector(1), step_size=Fraction(1, 8), local_steps=3)
    (Fraction(5, 2),)
    """
    offset, size, limit = _checks.vector("offset", offset, fed.dim), fed.num_clients + 1, []
    for i in range(fed.dim):
        round_ = _round_of_coordinate(fed, i, offset[i], step_size, local_steps, option)
        still = round_([Fraction(0)] * size)
        columns = [round_([Fraction(int(r == c)) for r in range(size)]) for c in range(size)]
        system = [[int(r == c) - columns[c][r] + still[r] for c in range(size)] for r in range(size)]
        limit.append(solved(system, still)[0])
    return Vector(limit)


def _round_of_coordinate(
    fed: RationalQuadratics, i: int, offset: Fraction, step_size: Fraction, local_steps: int, option: int
) -> Callable[[Sequence[Fraction]], list[Fraction]]:
    """Return the affine map of a round on (x, c_1, ..., c_K) in one coordinate; coordinates do not interact."""
    one = replace(
        fed, curvatures=tuple(vector(h[i]) for h in fed.curvatures), centers=tuple(vector(c[i]) for c in fed.centers)
    )

    def move(flat: Sequence[Fraction]) -> list[Fraction]:
        server = vector(inner(fed.weights, flat[1:]) + offset)
        state = Controlled(vector(flat[0]), server, tuple(vector(c) for c in flat[1:]))
        after = scaffold_round(one, state, step_size=step_size, local_steps=local_steps, option=option)
        return [after.model[0], *(c[0] for c in after.clients)]

    return move


@final
@dataclass(frozen=True)
class ScaffnewState:
    """The state of Scaffnew: the models of the clients, and their control variates.

    >>> ScaffnewState((vector(0), vector(0)), (vector(0), vector(0))).models[1]
    (Fraction(0, 1),)
    """

    models: tuple[Vector, ...]
    variates: tuple[Vector, ...]

    def __post_init__(self) -> None:
        models = _checks.vectors("models", self.models)
        object.__setattr__(self, "models", models)
        object.__setattr__(self, "variates", _checks.vectors("variates", self.variates, len(models), len(models[0])))


def scaffnew_step(
    fed: RationalQuadratics, state: ScaffnewState, *, step_size: Fraction, probability: Fraction, falls: bool
) -> ScaffnewState:
    """Return the state after a local step of all clients, followed by averaging if ``falls``.

    With probability 1, averaging after every step, the mean takes a gradient step:

    >>> from fedtheory.instances.federations import opposite_clients
    >>> start = ScaffnewState((vector(4), vector(4)), (vector(0), vector(0)))
    >>> scaffnew_step(opposite_clients(), start, step_size=Fraction(1, 4), probability=Fraction(1), falls=True).models
    ((Fraction(3, 1),), (Fraction(3, 1),))
    """
    gamma, p = _run(fed, state, step_size, probability)
    pairs = list(zip(state.models, state.variates, strict=True))
    moved = [x - gamma * (fed.gradient(k, x) - h) for k, (x, h) in enumerate(pairs)]
    if not validate.boolean("falls", falls):
        return ScaffnewState(tuple(moved), state.variates)
    mean = combination(fed.weights, moved)
    variates = tuple(h + p / gamma * (mean - x) for x, h in zip(moved, state.variates, strict=True))
    return ScaffnewState((mean,) * fed.num_clients, variates)


def potential(fed: RationalQuadratics, state: ScaffnewState, *, step_size: Fraction, probability: Fraction) -> Fraction:
    """Return ``mean |x_k - w*|^2 + (gamma/p)^2 mean |h_k - grad F_k(w*)|^2``, weighted means over the clients.

    >>> from fedtheory.instances.federations import opposite_clients
    >>> state = ScaffnewState((vector(0), vector(0)), (vector(0), vector(0)))
    >>> potential(opposite_clients(), state, step_size=Fraction(1), probability=Fraction(1, 2))
    Fraction(4, 1)
    """
    gamma, p = _run(fed, state, step_size, probability)
    errors = zip(state.variates, fed.gradients(fed.minimizer), strict=True)
    distances = inner(fed.weights, [norm2(x - fed.minimizer) for x in state.models])
    return distances + (gamma / p) ** 2 * inner(fed.weights, [norm2(h - g) for h, g in errors])


def mean_potentials(
    fed: RationalQuadratics, state: ScaffnewState, num_steps: int, *, step_size: Fraction, probability: Fraction
) -> tuple[Fraction, ...]:
    """Return the expected potentials after 0, 1, ..., T steps, over all 2^T outcomes of the coin.

    Parameters
    ----------
    fed, state
        The clients, and the initial state.
    num_steps
        Number T of steps, at most 16.
    step_size, probability
        gamma, and the probability p of a communication.

    Returns
    -------
    tuple
        T + 1 fractions.

    Raises
    ------
    TypeError, ValueError
        If T is above 16, or an argument is invalid.

    Examples
    --------
    >>> from fedtheory.instances.federations import opposite_clients
    >>> start = ScaffnewState((vector(4), vector(4)), (vector(0), vector(0)))
    >>> known = {"step_size": Fraction(1), "probability": Fraction(1)}
    >>> [str(mean) for mean in mean_potentials(opposite_clients(), start, 2, **known)]
    ['17', '0', '0']
    """
    gamma, p = _run(fed, state, step_size, probability)
    known = {"step_size": gamma, "probability": p}
    law, means = [(Fraction(1), state)], [potential(fed, state, **known)]
    for _ in range(validate.count("num_steps", num_steps, 0, 16)):
        coins = [(falls, share) for falls, share in ((True, p), (False, 1 - p)) if share]
        steps = ((chance * q, falls, one) for chance, one in law for falls, q in coins)
        law = [(chance, scaffnew_step(fed, one, falls=falls, **known)) for chance, falls, one in steps]
        means.append(sum((chance * potential(fed, one, **known) for chance, one in law), start=Fraction(0)))
    return tuple(means)


def disagreement_map(shrink: Fraction, probability: Fraction) -> tuple[Vector, Vector, Vector]:
    """Return the linear map of the second moments (E u^2, E uv, E v^2) in one step, for clients of equal curvature.

    Parameters
    ----------
    shrink
        ``e = 1 - gamma a`` for the curvature a.
    probability
        Probability p of a communication.

    Returns
    -------
    tuple
        Three rows, for ``u = x_k - mean`` and ``v = (gamma/p)(h_k - h_k*)``.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a finite number, or p is not in (0, 1].

    Examples
    --------
    With p = 1 all models are equal after a step, and e = 1/2 halves the error of a control variate:

    >>> disagreement_map(Fraction(1, 2), Fraction(1))[2]
    (Fraction(1, 4), Fraction(0, 1), Fraction(0, 1))
    """
    e, p = _checks.rational("shrink", shrink), _checks.probability("probability", probability)
    q = 1 - p
    return (
        vector(q * e**2, 2 * q * e * p, q * p**2),
        vector(0, q * e, q * p),
        vector(p * e**2, -2 * p * q * e, p * q**2 + q),
    )


def disagreement_radius(shrink: Fraction, probability: Fraction) -> float:
    """Return the spectral radius of ``disagreement_map``, which is the asymptotic rate of the mean potential.

    Parameters
    ----------
    shrink, probability
        As in ``disagreement_map``.

    Returns
    -------
    float
        The radius in floating point.

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid, or the square of e exceeds the range of floats.

    Examples
    --------
    >>> disagreement_radius(Fraction(0), Fraction(1, 4)) == 57 / 64
    True
    """
    import numpy as np

    rows = disagreement_map(shrink, probability)
    try:
        matrix = np.array(rows, dtype=np.float64)
    except OverflowError as error:
        message = f"shrink must be at most 1e154 in absolute value, got {format_number(shrink)}"
        raise ValueError(message) from error
    return float(abs(np.linalg.eigvals(matrix)).max())


def _run(
    fed: RationalQuadratics, state: ScaffnewState, step_size: Fraction, probability: Fraction
) -> tuple[Fraction, Fraction]:
    """Return gamma and p for a state that fits the clients."""
    validate.instance("fed", fed, RationalQuadratics, "a RationalQuadratics")
    validate.instance("state", state, ScaffnewState, "a ScaffnewState")
    _checks.vectors("state.models", state.models, fed.num_clients, fed.dim)
    return _checks.positive("step_size", step_size), _checks.probability("probability", probability)
