"""What the claims about heterogeneity at the minimizer share: drawn federations and how they move."""

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.rational._words import federation_in_words, in_words
from fedtheory.rational.draws import draw_federation, draw_model, whole
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import Vector, added, combination, inner, norm2

__all__ = ["Start", "average", "draw_start", "moved", "zeta2"]


class Start(NamedTuple):
    """A federation, a model, a step size, the constants that bounds take, and an instance in words."""

    federation: RationalQuadratics
    model: Vector
    step_size: Fraction
    known: dict[str, Any]
    words: dict[str, Any]


def zeta2(fed: RationalQuadratics) -> Fraction:
    """Return ``sum_k p_k |grad F_k(w*)|^2``."""
    return inner(fed.weights, [norm2(gradient) for gradient in fed.gradients(fed.minimizer)])


def draw_start(rng: np.random.Generator, longest: int = 3, *, is_balanced: bool = False) -> Start:
    """Draw a federation, a model relative to w*, and a step size up to ``longest/L``, which is excluded."""
    fed = draw_federation(rng)
    fed = replace(fed, weights=(Fraction(1, fed.num_clients),) * fed.num_clients) if is_balanced else fed
    model = added(draw_model(rng, fed.dim), fed.minimizer)
    step_size = longest * Fraction(whole(rng, 1, 15), 16) / fed.smoothness
    known = {"mu": fed.strong_convexity, "L": fed.smoothness, "step_size": step_size, "zeta2": zeta2(fed)}
    words = {**federation_in_words(fed), "model": in_words(model), "step_size": str(step_size)}
    return Start(fed, model, step_size, known, words)


def moved(fed: RationalQuadratics, client: int, model: Vector, step_size: Fraction) -> Vector:
    """Return a client's model after a gradient step."""
    return combination((Fraction(1), -step_size), (model, fed.gradient(client, model)))


def average(models: Iterable[Vector]) -> Vector:
    """Return the mean of some models."""
    models = list(models)
    return combination([Fraction(1, len(models))] * len(models), models)
