"""The heavy ball method with the parameters of its rate on quadratics: an exact cycle, and what holds on quadratics."""

from fractions import Fraction

import numpy as np

from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import pick, whole
from fedtheory.theorem.findings import Finding, at_most
from fedtheory.theorem.paper import FEDTHEORY, Paper, Statement

HEAVY_BALL = Paper(
    "heavy-ball",
    "Heavy-ball Algorithms Always Escape Saddle Points",
    "Sun, Li, Quan, Jiang, Li, Dou",
    2019,
    "https://arxiv.org/abs/1907.09697",
)


def parameters(root_mu: Fraction, root_L: Fraction) -> tuple[Fraction, Fraction]:
    """Return the step size 4/(L^(1/2) + mu^(1/2))^2 and the momentum ((L^(1/2) - mu^(1/2))/(L^(1/2) + mu^(1/2)))^2."""
    return 4 / (root_L + root_mu) ** 2, ((root_L - root_mu) / (root_L + root_mu)) ** 2


def _beyond(x: Fraction, knee: int) -> Fraction:
    """Return max(x - knee, 0), rounded off within 1/10 of the knee so that its derivative is continuous."""
    width = Fraction(1, 10)
    if abs(x - knee) < width:
        return (x - knee + width) ** 2 / (4 * width)
    return max(x - knee, Fraction(0))


def slope(x: Fraction) -> Fraction:
    """Return F'(x) of a loss with minimizer 0 whose F'' falls from 25 to 1 at 1 and increases to 25 at 2."""
    return 25 * x - 24 * _beyond(x, 1) + 24 * _beyond(x, 2)


@claim(
    "heavy-ball:faster-than-nesterov",
    "Heavy ball converges linearly, faster than Nesterov's method, on smooth strongly convex losses that are C^2",
    Statement(HEAVY_BALL, "Section 1.1"),
    "erratum",
    hypotheses=("1 <= F'' <= 25", "F'' is continuous", "step size 1/9 and momentum 4/9, the best ones on quadratics"),
    remark=(
        "an exact cycle of three points; the loss is that of Lessard, Recht and Packard (2016) with rounded kinks, from"
        " which the points are far enough away"
    ),
)
def faster_than_nesterov() -> Finding:
    step_size, momentum = parameters(Fraction(1), Fraction(5))
    before, w = Fraction(-2208, 1225), Fraction(2592, 1225)
    start2 = before**2 + w**2
    for _ in range(300):
        before, w = w, w - step_size * slope(w) + momentum * (w - before)
    known = {"w_-1": "-2208/1225", "w_0": "2592/1225", "step_size": str(step_size), "momentum": str(momentum)}
    return at_most(before**2 + w**2, start2 / 2, instance=known | {"steps": 300})


@claim(
    "heavy-ball:quadratics",
    "On quadratics with curvatures in [mu, L] both roots z of z^2 - (1 + b - a h) z + b have modulus b^(1/2)",
    Statement(FEDTHEORY, "quadratic losses", related=(HEAVY_BALL, "Section 1.1"), form="derived"),
    hypotheses=("a = 4/(L^(1/2) + mu^(1/2))^2, b = ((L^(1/2) - mu^(1/2))/(L^(1/2) + mu^(1/2)))^2, mu <= h <= L",),
    looseness=1.01,
    remark="the discriminant is at most 0, and it is 0 at h = mu and at h = L: no quadratic has a cycle",
)
def quadratics(rng: np.random.Generator) -> Finding:
    root_mu = Fraction(whole(rng, 1, 30), 10)
    root_L = root_mu + Fraction(whole(rng, 1, 90), 10)
    a, b = parameters(root_mu, root_L)
    share = pick(rng, [Fraction(0), Fraction(1), Fraction(whole(rng, 0, 20), 20)])
    h = root_mu**2 + share * (root_L**2 - root_mu**2)
    known = {"mu": str(root_mu**2), "L": str(root_L**2), "h": str(h)}
    return at_most((1 + b - a * h) ** 2, 4 * b, instance=known)
