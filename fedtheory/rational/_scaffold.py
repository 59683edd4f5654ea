"""SCAFFOLD on quadratics in rational arithmetic: rounds, the affine map that they are, its limit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory.arithmetic.matrices import solved
from fedtheory.rational import _checks
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import Vector, added, combination, difference, norm2, scaled


@final
@dataclass(frozen=True)
class Controlled:
    """The state of SCAFFOLD: the model, the server's control variate, and the clients'.

    >>> zero = (Fraction(0),)
    >>> Controlled(zero, zero, (zero, zero)).clients
    ((Fraction(0, 1),), (Fraction(0, 1),))
    """

    model: Vector
    server: Vector
    clients: tuple[Vector, ...]

    def __post_init__(self) -> None:
        dim = len(_checks.vector("model", self.model))
        _checks.vector("server", self.server, dim)
        _checks.vectors("clients", self.clients, size=dim)


def scaffold_round(
    fed: RationalQuadratics, state: Controlled, *, step_size: Fraction, local_steps: int, option: int = 2
) -> Controlled:
    """Return the state after a round of all clients.

    Two parabolas with minimizers 0 and 5 from 0: the second goes to ``5/2 + 5/4``, and has met the mean gradient -15.

    >>> curvatures, centers = (((Fraction(a),), (Fraction(b),)) for a, b in ((1, 4), (0, 5)))
    >>> fed = RationalQuadratics(curvatures, centers, (Fraction(1, 2),) * 2, (Fraction(0),) * 2)
    >>> zero = (Fraction(0),)
    >>> after = scaffold_round(fed, Controlled(zero, zero, (zero, zero)), step_size=Fraction(1, 8), local_steps=2)
    >>> after.model, after.clients[1]
    ((Fraction(15, 8),), (Fraction(-15, 1),))
    """
    _checks.vectors("state.clients", state.clients, fed.num_clients, fed.dim)
    # a size, since each step adds digits
    eta, tau = _checks.positive("step_size", step_size), validate.size("local_steps", local_steps)
    if validate.count("option", option, 1, 2) == 1:
        variates = fed.gradients(state.model)
    ends, means = [], []
    for k, own in enumerate(state.clients):
        correction, y = difference(state.server, own), state.model
        for _ in range(tau):
            y = difference(y, scaled(eta, added(fed.gradient(k, y), correction)))
        ends.append(y)
        means.append(difference(scaled(1 / (tau * eta), difference(state.model, y)), correction))
    variates = variates if option == 1 else tuple(means)
    moves = [difference(new, old) for new, old in zip(variates, state.clients, strict=True)]
    server = added(state.server, combination(fed.weights, moves))
    return Controlled(combination(fed.weights, ends), server, variates)


def control_potential(fed: RationalQuadratics, state: Controlled, weight: Fraction) -> Fraction:
    """Return ``|w - w*|^2 + weight mean |c_k - c - grad F_k(w*)|^2``.

    Of two equal parabolas whose control variates are right only the distance is left.

    >>> from fedtheory.rational.quadratics import opposite_clients
    >>> one, three = (Fraction(1),), (Fraction(3),)
    >>> control_potential(opposite_clients(), Controlled(three, (Fraction(0),), ((Fraction(-1),), one)), Fraction(1))
    Fraction(9, 1)
    """
    _checks.vectors("state.clients", state.clients, fed.num_clients, fed.dim)
    at_best = fed.gradients(fed.minimizer)
    errors = [
        norm2(difference(difference(own, state.server), h)) for own, h in zip(state.clients, at_best, strict=True)
    ]
    mean = sum((p * error for p, error in zip(fed.weights, errors, strict=True)), start=Fraction(0))
    return norm2(difference(state.model, fed.minimizer)) + _checks.rational("weight", weight) * mean


def scaffold_limit(
    fed: RationalQuadratics, offset: Vector, *, step_size: Fraction, local_steps: int, option: int = 2
) -> Vector:
    """Return the stationary model for control variates whose server's is off their mean by ``offset``, which stays.

    One client of curvature 2 around 3: the limit is off by ``offset/2``.

    >>> fed = RationalQuadratics(((Fraction(2),),), ((Fraction(3),),), (Fraction(1),), (Fraction(0),))
    >>> scaffold_limit(fed, (Fraction(1),), step_size=Fraction(1, 8), local_steps=3)
    (Fraction(5, 2),)
    """
    limit, offset = [], _checks.vector("offset", offset, fed.dim)
    for i in range(fed.dim):
        one, flat = _coordinate(fed, i), [Fraction(0)] * (fed.num_clients + 1)
        move = _mover(one, offset[i], step_size, local_steps, option)
        rows, still = _matrix(move, len(flat)), move(flat)
        system = [[Fraction(int(r == c)) - rows[r][c] for c in range(len(flat))] for r in range(len(flat))]
        limit.append(solved(system, still)[0])
    return tuple(limit)


def scaffold_radius(fed: RationalQuadratics, *, step_size: Fraction, local_steps: int, option: int = 2) -> float:
    """Return the spectral radius of the map of a round: what errors shrink by in the long run, if it is below 1.

    With one local step it is gradient descent.

    >>> from fedtheory.rational.quadratics import opposite_clients
    >>> scaffold_radius(opposite_clients(), step_size=Fraction(1, 4), local_steps=1)
    0.75
    """
    size, radius = fed.num_clients + 1, 0.0
    for i in range(fed.dim):
        rows = _matrix(_mover(_coordinate(fed, i), Fraction(0), step_size, local_steps, option), size)
        matrix: Array = np.array(rows, dtype=np.float64)
        radius = max(radius, float(abs(np.linalg.eigvals(matrix)).max()))
    return radius


def _coordinate(fed: RationalQuadratics, i: int) -> RationalQuadratics:
    """Return one coordinate of diagonal quadratics, which do not mix."""
    return replace(
        fed,
        curvatures=tuple((h[i],) for h in fed.curvatures),
        centers=tuple((c[i],) for c in fed.centers),
    )


def _mover(
    fed: RationalQuadratics, offset: Fraction, step_size: Fraction, local_steps: int, option: int
) -> Callable[[Sequence[Fraction]], list[Fraction]]:
    """Return the map of a round on (x, c_1, ..., c_K), with c at an offset from the mean of the c_k."""

    def move(flat: Sequence[Fraction]) -> list[Fraction]:
        mean = sum((p * c for p, c in zip(fed.weights, flat[1:], strict=True)), start=offset)
        state = Controlled((flat[0],), (mean,), tuple((c,) for c in flat[1:]))
        after = scaffold_round(fed, state, step_size=step_size, local_steps=local_steps, option=option)
        return [after.model[0], *(c[0] for c in after.clients)]

    return move


def _matrix(move: Callable[[Sequence[Fraction]], list[Fraction]], size: int) -> list[list[Fraction]]:
    """Return the linear part of an affine map, row by row."""
    still = move([Fraction(0)] * size)
    columns = [move([Fraction(int(r == c)) for r in range(size)]) for c in range(size)]
    return [[columns[c][r] - still[r] for c in range(size)] for r in range(size)]
