"""Scaffnew on quadratics in exact arithmetic."""

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from fedtheory.instances.federations import RationalQuadratics
from fedtheory.instances.vectors import Vector, combination, inner, norm2

__all__: list[str] = []


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
