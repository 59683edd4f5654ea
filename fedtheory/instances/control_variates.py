"""SCAFFOLD and Scaffnew on quadratics in exact arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

from fedtheory.arithmetic.matrices import solved
from fedtheory.instances.federations import RationalQuadratics
from fedtheory.instances.vectors import Vector, combination, inner, norm2, vector

__all__: list[str] = []


@final
@dataclass(frozen=True)
class Controlled:
    """The state of SCAFFOLD: the model, the server's control variate, and the clients'."""

    model: Vector
    server: Vector
    clients: tuple[Vector, ...]


def scaffold_round(
    fed: RationalQuadratics, state: Controlled, *, step_size: Fraction, local_steps: int, option: int = 2
) -> Controlled:
    """Return the state after a round of all clients."""
    x, ends, means = state.model, [], []
    for k, c_k in enumerate(state.clients):
        y = x
        for _ in range(local_steps):
            y -= step_size * (fed.gradient(k, y) + state.server - c_k)
        ends.append(y)
        means.append((x - y) / (local_steps * step_size) + c_k - state.server)
    variates = fed.gradients(x) if option == 1 else tuple(means)
    moves = [new - old for new, old in zip(variates, state.clients, strict=True)]
    return Controlled(combination(fed.weights, ends), state.server + combination(fed.weights, moves), variates)


def control_potential(fed: RationalQuadratics, state: Controlled, weight: Fraction) -> Fraction:
    """Return ``|w - w*|^2 + weight mean |c_k - c - grad F_k(w*)|^2``."""
    pairs = zip(state.clients, fed.gradients(fed.minimizer), strict=True)
    errors = [norm2(c_k - state.server - h) for c_k, h in pairs]
    return norm2(state.model - fed.minimizer) + weight * inner(fed.weights, errors)


def scaffold_limit(
    fed: RationalQuadratics, offset: Vector, *, step_size: Fraction, local_steps: int, option: int = 2
) -> Vector:
    """Return the stationary model for a server's control variate that differs from the clients' mean by ``offset``.

    The offset does not change in a round.
    """
    size, limit = fed.num_clients + 1, []
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
    """The state of Scaffnew: the models of the clients, and their control variates."""

    models: tuple[Vector, ...]
    variates: tuple[Vector, ...]


def scaffnew_step(
    fed: RationalQuadratics, state: ScaffnewState, *, step_size: Fraction, probability: Fraction, falls: bool
) -> ScaffnewState:
    """Return the state after a local step of all clients, followed by averaging if ``falls``."""
    pairs = zip(state.models, state.variates, strict=True)
    moved = [x - step_size * (fed.gradient(k, x) - h) for k, (x, h) in enumerate(pairs)]
    if not falls:
        return ScaffnewState(tuple(moved), state.variates)
    mean = combination(fed.weights, moved)
    variates = tuple(h + probability / step_size * (mean - x) for x, h in zip(moved, state.variates, strict=True))
    return ScaffnewState((mean,) * fed.num_clients, variates)


def potential(fed: RationalQuadratics, state: ScaffnewState, *, step_size: Fraction, probability: Fraction) -> Fraction:
    """Return ``mean |x_k - w*|^2 + (gamma/p)^2 mean |h_k - grad F_k(w*)|^2``, weighted means over the clients."""
    errors = zip(state.variates, fed.gradients(fed.minimizer), strict=True)
    distances = inner(fed.weights, [norm2(x - fed.minimizer) for x in state.models])
    return distances + (step_size / probability) ** 2 * inner(fed.weights, [norm2(h - g) for h, g in errors])


def mean_potentials(
    fed: RationalQuadratics, state: ScaffnewState, num_steps: int, *, step_size: Fraction, probability: Fraction
) -> tuple[Fraction, ...]:
    """Return the expected potentials after 0, 1, ..., T steps, over all 2^T outcomes of the coin."""
    p, known = probability, {"step_size": step_size, "probability": probability}
    law, means = [(Fraction(1), state)], [potential(fed, state, **known)]
    for _ in range(num_steps):
        coins = [(falls, share) for falls, share in ((True, p), (False, 1 - p)) if share]
        steps = ((chance * q, falls, one) for chance, one in law for falls, q in coins)
        law = [(chance, scaffnew_step(fed, one, falls=falls, **known)) for chance, falls, one in steps]
        means.append(sum((chance * potential(fed, one, **known) for chance, one in law), start=Fraction(0)))
    return tuple(means)
