"""What the claims about compressed communication share: rational rates, compressors, rounds, potentials."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.rational._words import federation_in_words, in_words
from fedtheory.rational.draws import draw_federation, draw_model, pick, whole
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import Vector, added, combination, difference, norm2, scaled

__all__ = ["Constants", "Drawn", "deviations", "draw_constants", "draw_run", "memory_potential", "squares"]


@dataclass(frozen=True)
class Constants:
    """mu, L, s, a step size, the rate z of error feedback there, and the curvature at which it is attained."""

    mu: Fraction
    L: Fraction
    compression_error: Fraction
    step_size: Fraction
    z: Fraction
    curvature: Fraction

    @property
    def known(self) -> dict[str, Fraction]:
        """What bounds take."""
        return {name: getattr(self, name) for name in ("mu", "L", "compression_error", "step_size")}

    @property
    def words(self) -> dict[str, str]:
        """What bounds take, as texts."""
        return {name: str(value) for name, value in self.known.items()}


def draw_constants(rng: np.random.Generator, mu: Fraction | None = None, L: Fraction | None = None) -> Constants:
    """Draw constants, and a step size at which the rate z is rational, on either side of the best one."""
    s = Fraction(whole(rng, 1, 9), 10)
    L = Fraction(whole(rng, 5, 30), 10) if L is None else L
    mu = L * Fraction(whole(rng, 1, 9), 10) if mu is None else mu
    least = (1 - s) * (L - mu) / (L + mu)
    low = Fraction(int(64 * (float(least) + math.sqrt(float(least) ** 2 + 4 * float(s))) / 2) + 1, 64)
    z = low + (Fraction(5, 4) - low) * Fraction(whole(rng, 0, 16), 16)
    t = z - s / z
    options = [((t + 1 - s) / ((1 + s) * L), L)]
    if t < 1 - s:
        options.append(((1 - s - t) / ((1 + s) * mu), mu))
    step_size, curvature = pick(rng, options)
    return Constants(mu, L, s, step_size, z, curvature)


@dataclass(frozen=True)
class Drawn:
    """A federation, its first model, constants, and everything in words."""

    federation: RationalQuadratics
    model: Vector
    constants: Constants
    words: dict[str, Any]


def draw_run(rng: np.random.Generator, *, common: bool) -> Drawn:
    """Draw a federation, with one minimizer for all clients if ``common``, a model, and constants."""
    fed = draw_federation(rng)
    fed = replace(fed, centers=fed.centers[:1] * fed.num_clients) if common else fed
    model, constants = draw_model(rng, fed.dim), draw_constants(rng, fed.strong_convexity, fed.smoothness)
    return Drawn(fed, model, constants, {**federation_in_words(fed), "model": in_words(model), **constants.words})


def compressed(rng: np.random.Generator, vector: Vector, error: Fraction) -> Vector:
    """Return what some compressor makes of a vector: each entry is off by a share of it, up to the largest."""
    return tuple((1 + error * Fraction(whole(rng, -2, 2), 2)) * entry for entry in vector)


def deviations(weights: Vector, vectors: Sequence[Vector]) -> list[Vector]:
    """Return the vectors less their mean."""
    mean = combination(weights, vectors)
    return [difference(one, mean) for one in vectors]


def squares(weights: Vector, vectors: Sequence[Vector]) -> Fraction:
    """Return the weighted mean of squared lengths."""
    return sum((p * norm2(one) for p, one in zip(weights, vectors, strict=True)), start=Fraction(0))


def memory_potential(weights: Vector, away: Vector, memories: Sequence[Vector], s: Fraction) -> Fraction:
    """Return ``mean |w - w* - e_k|^2 + |mean e_k|^2/s``."""
    return squares(weights, [difference(away, e) for e in memories]) + norm2(combination(weights, memories)) / s


def ef_round(
    rng: np.random.Generator, drawn: Drawn, model: Vector, memories: Sequence[Vector]
) -> tuple[Vector, list[Vector]]:
    """Take a round of error feedback."""
    fed, eta = drawn.federation, drawn.constants.step_size
    wanted = [added(e, scaled(eta, g)) for e, g in zip(memories, fed.gradients(model), strict=True)]
    sent = [compressed(rng, v, drawn.constants.compression_error) for v in wanted]
    left_out = [difference(v, m) for v, m in zip(wanted, sent, strict=True)]
    return difference(model, combination(fed.weights, sent)), left_out


def ef21_round(
    rng: np.random.Generator, drawn: Drawn, model: Vector, memories: Sequence[Vector]
) -> tuple[Vector, list[Vector]]:
    """Take a round of EF21."""
    fed = drawn.federation
    model = difference(model, scaled(drawn.constants.step_size, combination(fed.weights, memories)))
    changes = [difference(g, d) for g, d in zip(fed.gradients(model), memories, strict=True)]
    sent = [compressed(rng, v, drawn.constants.compression_error) for v in changes]
    return model, [added(d, m) for d, m in zip(memories, sent, strict=True)]


def gradient_potential(fed: RationalQuadratics, model: Vector, memories: Sequence[Vector], s: Fraction) -> Fraction:
    """Return ``s |grad F(w)|^2 + mean |grad F_k(w) - d_k|^2``."""
    gradients = fed.gradients(model)
    apart = [difference(g, d) for g, d in zip(gradients, memories, strict=True)]
    return s * norm2(combination(fed.weights, gradients)) + squares(fed.weights, apart)
