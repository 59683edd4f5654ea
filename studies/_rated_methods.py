"""Six methods as worst-case problems, each with a closed form from theory."""

from collections.abc import Callable
from fractions import Fraction as Q
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import fedtheory as ft

if TYPE_CHECKING:
    from fedtheory.worst_case import Problem

MU, L, ZETA2, STEPS = Q(1, 10), Q(1), Q(1, 4), 3


def started(p: "Problem", best: Any) -> Any:
    """Return a start at a squared distance of at most 1."""
    x = p.point("start")
    p.at_most((x - best).square, 1, name="distance2")
    return x


def gradient_descent(step: Q) -> "tuple[Problem, float]":
    """Formulate the method; return it with its closed form."""
    p = ft.worst_case.Problem()
    f = p.function(mu=MU, L=L)
    best = f.minimizer()
    x = started(p, best)
    for _ in range(STEPS):
        x = x - step * f.gradient(x)
    p.maximize((x - best).square)
    return p, float(max((1 - step * MU) ** 2, (1 - step * L) ** 2) ** STEPS)


def heavy_ball(step: Q) -> "tuple[Problem, float]":
    """Formulate the method; return it with the largest eigenvalue of its powers on quadratics."""
    p = ft.worst_case.Problem()
    f = p.function(mu=MU, L=L)
    best = f.minimizer()
    x = before = started(p, best)
    eigenvalue = np.polynomial.Polynomial([0, 1])
    here: Any = np.polynomial.Polynomial([1])
    last = here
    for _ in range(STEPS):
        before, x = x, x - step * f.gradient(x) + Q(1, 4) * (x - before)
        last, here = here, here - float(step) * eigenvalue * here + 0.25 * (here - last)
    p.maximize((x - best).square)
    turns = [root.real for root in here.deriv().roots() if not root.imag and MU < root.real < L]
    return p, max(float(here(at)) ** 2 for at in (*turns, float(MU), float(L)))


def fast_gradients(step: Q) -> "tuple[Problem, float]":
    """Formulate the method; return it with its errors on a parabola and on a function with constant slope far away."""
    p = ft.worst_case.Problem()
    f = p.function(L=L)
    best = f.minimizer()
    x = y = started(p, best)
    gone = gone_y = Q(0)  # steps along a constant slope
    left = left_y = Q(1)  # the remaining factor on a parabola
    for i in range(STEPS):
        share = Q(i, i + 3)
        before, x = x, y - step * f.gradient(y)
        y = x + share * (x - before)
        gone_y, gone = gone_y + 1 + share * (gone_y + 1 - gone), gone_y + 1
        left_y, left = (1 - step * L) * left_y * (1 + share) - share * left, (1 - step * L) * left_y
    p.maximize(f.value(x) - f.value(best))
    return p, float(max(L / (4 * gone * step * L + 2), L / 2 * left**2))


def stochastic_gradients(step: Q) -> "tuple[Problem, float]":
    """Formulate the method; return it with its closed form."""
    p = ft.worst_case.Problem()
    f = p.clients(10, mu=MU, L=L)
    best = f.minimizer()
    x = started(p, best)
    f.heterogeneity(zeta2=ZETA2)
    p.maximize((x - step * f.gradient(x) - best).square)
    across, along = step * (L - MU) / 2, 1 - step * (L + MU) / 2
    return p, float((across + np.sqrt(float(along**2 + step**2 * ZETA2))) ** 2)


def local_steps(step: Q) -> "tuple[Problem, float]":
    """Formulate the method; return it with the lemma of one round."""
    p = ft.worst_case.Problem()
    clients = p.clients(10, mu=MU, L=L)
    best = clients.minimizer()
    w = started(p, best)
    clients.heterogeneity(zeta2=ZETA2)
    for _ in range(STEPS):
        w = clients.step(w, step)
    p.maximize((clients.mean(w) - best).square)
    c = 1 - step * MU
    beta = 2 * c / (step * (L - MU)) - 1
    d = [sum(c ** (STEPS - 1 - r) for r in range(s)) for s in range(STEPS)]
    drift = (sum(one**2 for one in d) - sum(d) ** 2 / (beta + STEPS)) / beta
    return p, float(c ** (2 * STEPS) + step**2 * drift * ZETA2)


def error_feedback(step: Q) -> "tuple[Problem, float]":
    """Formulate the method; return it with its closed form."""
    p, s = ft.worst_case.Problem(), Q(1, 2)
    f = p.function(mu=MU, L=L)
    best, x, error = f.minimizer(), p.point("x"), p.point("error")
    p.at_most((x - best - error).square + 1 / s * error.square, 1, name="potential")
    wanted = error + step * f.gradient(x)
    sent = p.compressed(wanted, s**2)
    x, error = x - sent, wanted - sent
    p.maximize((x - best - error).square + 1 / s * error.square)
    t = float(max(1 - s - (1 + s) * step * MU, (1 + s) * step * L - (1 - s)))
    return p, ((t + np.sqrt(t**2 + 4 * float(s))) / 2) ** 2


class Method(NamedTuple):
    """A method, its largest step size, its measure, and the relation of the closed form to the worst case."""

    title: str
    problem: "Callable[[Q], tuple[Problem, float]]"
    longest: Q
    measured: str
    theory: str


EXACT, BELOW, ABOVE = "the worst case", "the worst quadratic", "an upper bound"
METHODS = (
    Method("gradient descent", gradient_descent, Q(2), "$|w_3 - w^*|^2$", EXACT),
    Method("heavy ball", heavy_ball, Q(5, 2), "$|w_3 - w^*|^2$", BELOW),
    Method("fast gradients", fast_gradients, Q(2), "$F(w_3) - F^*$", EXACT),
    Method("stochastic gradients", stochastic_gradients, Q(2), "$E|w_1 - w^*|^2$", EXACT),
    Method("local steps", local_steps, Q(13, 10), "$|w_3 - w^*|^2$", ABOVE),
    Method("error feedback", error_feedback, Q(2, 3), "potential", EXACT),
)
