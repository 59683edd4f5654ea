"""Random quadratics in rational arithmetic with a model and a step size, for claims about averaging and sampling."""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.instances.draws import draw_federation, draw_model
from fedtheory.instances.federations import RationalQuadratics
from fedtheory.instances.formatting import format_federation
from fedtheory.instances.vectors import Vector, inner, norm2
from fedtheory.theorem.draws import whole


class Start:
    """A federation, a model w, a step size below ``longest/L``, and the constants of the bounds."""

    def __init__(self, rng: np.random.Generator, longest: int = 3, **options: bool) -> None:
        self.fed = fed = draw_federation(rng, **options)
        self.w = draw_model(rng, fed.dim) + fed.minimizer
        self.eta = longest * Fraction(whole(rng, 1, 15), 16) / fed.smoothness
        zeta2 = inner(fed.weights, list(map(norm2, fed.gradients(fed.minimizer))))
        self.known = {"mu": fed.strong_convexity, "L": fed.smoothness, "step_size": self.eta, "zeta2": zeta2}
        self.instance: dict[str, Any] = {**format_federation(fed), "model": str(self.w), "step_size": str(self.eta)}

    def away2(self, w: Vector) -> Fraction:
        """``|w - w*|^2``."""
        return norm2(w - self.fed.minimizer)

    def moved(self, k: int, w: Vector) -> Vector:
        """Return a client's model after a gradient step."""
        return w - self.eta * self.fed.gradient(k, w)


class Model(NamedTuple):
    """A federation and a model."""

    fed: RationalQuadratics
    w: Vector
    instance: dict[str, Any]


def any_model(rng: np.random.Generator) -> list[Model]:
    """Draw a federation and a model."""
    fed = draw_federation(rng)
    w = draw_model(rng, fed.dim)
    return [Model(fed, w, {**format_federation(fed), "w": str(w)})]
