"""The descent lemma with a halved constant, L/4 in place of L/2: false, and refuted."""

from typing import Any

import numpy as np

from fedtheory.instances import combination, draw_federation, draw_model
from fedtheory.theorem import NONNEGATIVE, Convex, Hypothesis, LeftSide, Paper, Smooth, states
from fedtheory.verification import Finding, at_most, claim
from fedtheory.worst_case import Problem

PAPER = Paper("planted", "A theorem with an error", "The fedtheory developers", 2026, basis="own")
SMALL = Hypothesis(
    "gradient2 <= 2 L initial_gap", lambda gradient2, L, initial_gap: (gradient2, "<=", 2 * L * initial_gap)
)


@states(
    PAPER,
    "descent lemma with L/4",
    left=LeftSide("gap", "F(w - eta g) - F*", after="step"),
    assumes=(Smooth(of="F"), Convex(of="F"), SMALL),
    domains={"gradient2": NONNEGATIVE},
)
def planted_descent(initial_gap, *, gradient2, L, step_size):
    """Bound on the gap after a step of gradient descent.

    Parameters
    ----------
    gradient2
        Squared norm of the gradient g before the step.
    """
    return {"before": initial_gap, "descent": -step_size * (1 - step_size * L / 4) * gradient2}


def method(gradient2: Any, step_size: Any, L: Any = 1, initial_gap: Any = 1) -> Problem:
    p = Problem()
    f = p.function(0, L)
    best, w = f.minimizer(), p.point("w")
    g = f.gradient(w)
    p.at_most(f.value(w) - f.value(best), initial_gap, "initial_gap")
    p.at_most(-g.square, gradient2, "gradient2", share=-1)
    p.maximize(f.value(w - step_size * g) - f.value(best))
    return p


def domain(gradient2: Any, step_size: Any) -> list[Any]:
    return [gradient2 > 0, gradient2 < 2, step_size > 0, step_size <= 1]


@claim("planted:descent", "F(w - eta g) - F* on quadratics", planted_descent, looseness=2)
def on_quadratics(rng: np.random.Generator) -> Finding:
    fed = draw_federation(rng)
    w, L = draw_model(rng, fed.dim), fed.smoothness
    g, step_size = combination(fed.weights, fed.gradients(w)), int(rng.integers(1, 9)) / (8 * L)
    known = {"gradient2": g @ g, "L": L, "step_size": step_size}
    bound = planted_descent(fed.gap(w), **known)
    return at_most(fed.gap(w - step_size * g), bound, instance={"curvatures": fed.curvatures, "w": w, **known})
