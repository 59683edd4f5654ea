"""Random quadratics with full Hessians in rational arithmetic, for claims about averages of local steps."""

from fractions import Fraction

import numpy as np

from fedtheory.instances.draws import draw_federation, draw_model
from fedtheory.instances.formatting import format_vectors
from fedtheory.instances.stationary_points import StationaryPoints
from fedtheory.instances.vectors import Vector, inner, vector
from fedtheory.theorem.draws import pick, whole


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
