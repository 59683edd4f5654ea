"""Random quadratics in rational arithmetic with a model and a step size, for claims about averaging and sampling."""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.instances._format import format_federation, format_vectors
from fedtheory.instances.draws import draw_federation, draw_model, pick, whole
from fedtheory.instances.federations import RationalQuadratics
from fedtheory.instances.stationary_points import StationaryPoints
from fedtheory.instances.vectors import Vector, inner, norm2, vector


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


def _turned(diagonal: Vector, turns: bool) -> tuple[Vector, ...]:
    """Return a symmetric matrix with these eigenvalues; if ``turns``, rotated by the angle with cosine 3/5."""
    if len(diagonal) == 1:
        return (diagonal,)
    a, b = diagonal
    c, s = vector("3/5", "4/5") if turns else vector(1, 0)
    across = c * s * (a - b)
    return vector(c * c * a + s * s * b, across), vector(across, s * s * a + c * c * b)


class Case:
    """Clients with full Hessians, a step size up to 1/L, local steps of every client, and a model."""

    def __init__(self, rng: np.random.Generator, *, equal: bool = False) -> None:
        drawn = draw_federation(rng)
        hessians = tuple(_turned(h, whole(rng, 0, 1) == 1) for h in drawn.curvatures)
        share = pick(rng, [Fraction(1), *(Fraction(whole(rng, 1, 9), 10) for _ in range(2))])
        first = whole(rng, 1, 4)
        self.taus = tuple(first if equal else whole(rng, 1, 4) for _ in hessians)
        self.fed, self.eta = StationaryPoints(hessians, drawn.centers, drawn.weights), share / drawn.smoothness
        self.mu, self.L, self.model = drawn.strong_convexity, drawn.smoothness, draw_model(rng, drawn.dim)

    @property
    def effective(self) -> Fraction:
        """Mean number of local steps."""
        return inner(self.fed.weights, [Fraction(tau) for tau in self.taus])

    @property
    def instance(self) -> dict[str, object]:
        """The numbers as text."""
        return {
            "hessians": "; ".join(map(format_vectors, self.fed.hessians)),
            "centers": format_vectors(self.fed.centers),
            "weights": str(self.fed.weights),
            "step_size": str(self.eta),
            "local_steps": str(self.taus),
            "model": str(self.model),
        }


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
