"""Scaffnew with stochastic gradients, one step: the theorem on SProxSkip, as a paper of the same group quotes it.

The mean square of a gradient's difference from the gradients at the minimizer is at most ``2 L`` times the Bregman
distance plus ``noise``. If ``L`` bounds the difference from the same stochastic gradient at the minimizer only,
the statement is false.
"""

from fractions import Fraction
from typing import Any

from fedtheory.arithmetic.functions import maximum
from fedtheory.bounds.proxskip import PAPER
from fedtheory.theorem import NONNEGATIVE, POSITIVE, Hypothesis, LeftSide, StronglyConvex, states
from fedtheory.worst_case import Problem

SHORT = Hypothesis("step_size L <= 1", lambda step_size, L: (step_size * L, "<=", 1))
FLAT = Hypothesis("step_size mu <= 1", lambda step_size, mu: (step_size * mu, "<=", 1))
NOISE = Fraction(1, 100)
RARE = Hypothesis("probability <= 1", lambda probability: (probability, "<=", 1))


@states(
    PAPER,
    "SProxSkip",
    left=LeftSide(
        "potential", "E [|x_+ - x*|^2 + (gamma/p)^2 |h_+ - h*|^2]", after="step", over=("selection", "noise")
    ),
    assumes=(StronglyConvex(of="F"), SHORT, FLAT, RARE),
    domains={"potential": POSITIVE, "noise": NONNEGATIVE},
)
def stochastic_step(potential, *, mu, probability, step_size, L, noise):
    """Bound on the expected potential after a step."""
    floor = noise * maximum(step_size / mu, (step_size / probability) ** 2)
    return {"contracted": maximum(1 - step_size * mu, 1 - probability**2) * potential, "noise": floor}


def method(mu: Any, probability: Any, step_size: Any = 1, L: Any = 1, potential: Any = 1, noise: Any = NOISE) -> Any:
    p, weight = Problem(), (step_size / probability) ** 2
    f = p.function(mu, L)
    best, w, error, floor = f.minimizer(), p.point("w"), p.point("error"), p.number()
    p.at_most((w - best).square + weight * error.square, potential, "potential")
    p.equal_to(floor, noise, "noise")
    square = 2 * L * (f.value(w) - f.value(best)) + floor
    moved = (w - best).square - 2 * step_size * (f.gradient(w) @ (w - best)) + step_size**2 * square
    p.maximize(moved + (1 - probability**2) * weight * error.square)
    return p


def domain(mu: Any, probability: Any) -> list[Any]:
    return [mu > 0, mu < 1, probability > 0, probability < 1]
