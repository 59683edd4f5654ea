"""PEPit's gallery in the language of problems: methods of the literature, what PEPit answers, and what theory says.

Each example is written from the mathematics of its source. ``pepit`` is what PEPit 0.5.1 with Clarabel answers for the
same constants, a float of which six digits or so are right; ``theory`` is the exact value and ``bound`` an upper bound
where a paper has one. Irrational constants are replaced by ``near`` rationals, which moves values by less than 1e-10.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction as Q
from itertools import product
from math import sqrt
from typing import Any

from fedtheory.worst_case import Problem

__all__ = ["GALLERY", "NOT_DONE", "Example"]


@dataclass(frozen=True)
class Example:
    """A problem, and numbers that others have for its value."""

    folder: str
    problem: Callable[[], Problem]
    pepit: float
    theory: float | None
    bound: float | None
    pepit_is_off: bool = False
    """Whether PEPit's float is not within 1e-6 of the enclosure, as a comment explains."""

    @property
    def name(self) -> str:
        """Folder and name of the method."""
        return f"{self.folder}: {self.problem.__name__}"


def example(
    folder: str, *, pepit: float, theory: float | None = None, bound: float | None = None, pepit_is_off: bool = False
) -> Callable[[Callable[[], Problem]], Example]:
    """Make an example of a function that writes its problem."""
    return lambda problem: Example(folder, problem, pepit, theory, bound, pepit_is_off)


def near(number: float) -> Q:
    """Return a rational near an irrational number."""
    return Q(number).limit_denominator(10**6)


def begun(p: Problem, best: Any) -> Any:
    """Return a start at a distance of at most 1 from a point."""
    x = p.point("start")
    p.at_most((x - best).square, 1, name="distance2")
    return x


def fast_gradient_weights(n: int) -> list[Q]:
    """Return ``1, (1 + sqrt(4 t^2 + 1)) / 2, ...``, n + 1 of them."""
    found = [Q(1)]
    for _ in range(n):
        found.append((1 + near(sqrt(4 * found[-1] ** 2 + 1))) / 2)
    return found


def optimized_gradient_weights(n: int) -> list[Q]:
    """Return the weights of fast gradients, of which the last one is ``(1 + sqrt(8 t^2 + 1)) / 2``."""
    found = fast_gradient_weights(n - 1)
    return [*found, (1 + near(sqrt(8 * found[-1] ** 2 + 1))) / 2]


# ---- unconstrained convex minimization


@example("unconstrained", pepit=0.1666666669, theory=3 / 18)
def gradient_descent() -> Problem:
    """Drori and Teboulle 2014: ``L R^2 / (4 n + 2)`` for steps 1/L."""
    p = Problem()
    f = p.function(L=3)
    best = f.minimizer()
    x = begun(p, best)
    for _ in range(4):
        x = x - Q(1, 3) * f.gradient(x)
    p.maximize(f.value(x) - f.value(best))
    return p


@example("unconstrained", pepit=0.0661069055, bound=1 / (2 * 2.1935**2))
def fast_gradients() -> Problem:
    """Beck and Teboulle 2009: at most ``L / (2 t_n^2)``."""
    p, n = Problem(), 3
    f, t = p.function(L=1), fast_gradient_weights(n)
    best = f.minimizer()
    x = y = begun(p, best)
    for i in range(n):
        before, x = x, y - f.gradient(y)
        y = x + (t[i] - 1) / t[i + 1] * (x - before)
    p.maximize(f.value(x) - f.value(best))
    return p


@example("unconstrained", pepit=0.0666666671, theory=2 / 30)
def fast_gradients_with_simple_weights() -> Problem:
    """Taylor, Hendrickx, Glineur 2017, Table 1: ``2 L / (n^2 + 5 n + 6)``."""
    p, n = Problem(), 3
    f = p.function(L=1)
    best = f.minimizer()
    x = y = begun(p, best)
    for i in range(n):
        before, x = x, y - f.gradient(y)
        y = x + Q(i, i + 3) * (x - before)
    p.maximize(f.value(x) - f.value(best))
    return p


@example("unconstrained", pepit=0.1317287707, bound=0.25)
def fast_gradients_of_strongly_convex_functions() -> Problem:
    """d'Aspremont, Scieur, Taylor 2021, Corollary 4.15: at most ``(1 - sqrt(mu/L))^n``; here ``sqrt(mu/L) = 1/2``."""
    p, mu = Problem(), Q(1, 4)
    f = p.function(mu=mu, L=1)
    best, x = f.minimizer(), p.point()
    p.at_most(f.value(x) - f.value(best) + mu / 2 * (x - best).square, 1)
    y = x
    for _ in range(2):
        before, x = x, y - f.gradient(y)
        y = x + Q(1, 3) * (x - before)
    p.maximize(f.value(x) - f.value(best))
    return p


@example("unconstrained", pepit=0.0301803825, bound=4 / 5 / (1 + sqrt(2)) ** 2)
def fast_proximal_points() -> Problem:
    """Guler 1992: at most ``4 / (A (sum of sqrt(step))^2)``."""
    p, A = Problem(), Q(5)
    f = p.function()
    best, x = f.minimizer(), p.point()
    points, start = [best], x
    v = x
    for step in (Q(1), Q(2)):
        alpha = (near(sqrt((A * step) ** 2 + 4 * A * step)) - A * step) / 2
        y = (1 - alpha) * x + alpha * v
        x = f.proximal(y, step)
        points.append(x)
        v = v + 1 / alpha * (x - y)
        A = (1 - alpha) * A
    for y in points:  # f at the start is the least that these allow: a subgradient there would have no largest length
        p.at_most(f.value(y) + f.gradient(y) @ (start - y) - f.value(best) + Q(5, 2) * (start - best).square, 1)
    p.maximize(f.value(x) - f.value(best))
    return p


@example("unconstrained", pepit=0.3749999961)
def cyclic_coordinate_descent() -> Problem:
    """Kamri, Hendrickx, Glineur 2022: two blocks of coordinates of smoothness 1 and 2."""
    p, L = Problem(), (1, 2)
    f = p.function()
    best = f.minimizer()
    x = begun(p, best)
    points, halves = [best], [(f.gradient(best), f.gradient(best))]
    for k in range(4):
        half = p.vector()
        points.append(x)
        halves.append((half, f.gradient(x) - half))
        x = x - Q(1, L[k % 2]) * halves[-1][k % 2]
    for i, j in product(range(5), repeat=2):
        if i and j:
            p.equal_to(halves[i][0] @ halves[j][1], 0)
        below = f.value(points[j]) - f.value(points[i]) + f.gradient(points[j]) @ (points[i] - points[j])
        for k in (0, 1):
            if i != j:
                p.at_most(below + Q(1, 2 * L[k]) * (halves[i][k] - halves[j][k]).square, 0)
    p.maximize(f.value(points[-1]) - f.value(best))
    return p


@example("unconstrained", pepit=0.1923076926, theory=0.5 / (2 * 4 * 0.2 + 1))
def gradient_descent_under_quadratic_growth() -> Problem:
    """Guille-Escuret, Ibrahim, Goujaud, Mitliagkas 2022: ``L/2 max(1 / (2 n h L + 1), h L)``."""
    p = Problem()
    f = p.function(quadratic_growth=1)
    best = f.minimizer()
    x = begun(p, best)
    for _ in range(4):
        x = x - Q(1, 5) * f.gradient(x)
    p.maximize(f.value(x) - f.value(best))
    return p


@example("unconstrained", pepit=0.1500489253)
def decreasing_steps_under_quadratic_growth() -> Problem:
    """Guille-Escuret, Ibrahim, Goujaud, Mitliagkas 2022: ``L / (2 u_n)``."""
    p, u = Problem(), Q(1)
    f = p.function(quadratic_growth=1)
    best = f.minimizer()
    x = begun(p, best)
    for _ in range(3):
        u = u / 2 + near(sqrt((u / 2) ** 2 + 2))
        x = x - 1 / u * f.gradient(x)
    p.maximize(f.value(x) - f.value(best))
    return p


@example("unconstrained", pepit=0.0649571538, theory=1.5 / 9 * (8 / 9) ** 8)
def gradient_descent_on_quadratics() -> Problem:
    """Largest ``L/2 a (1 - a)^(2 n)`` over eigenvalues ``a L``, here at ``a = 1 / (2 n + 1)`` with n = 4."""
    p = Problem()
    f = p.function(mu=Q(3, 10), L=3, quadratic=True)
    best = f.minimizer()
    x = begun(p, best)
    for _ in range(4):
        x = x - Q(1, 3) * f.gradient(x)
    p.maximize(f.value(x) - f.value(best))
    return p


@example("unconstrained", pepit=0.0469181614, bound=1 / (1 + sqrt(4 * (1 + sqrt(2)) ** 4 - 3)))
def silver_steps() -> Problem:
    """Altschuler and Parrilo 2023: at most ``L / (1 + sqrt(4 (1 + sqrt 2)^(2 k) - 3))`` after ``2^k - 1`` steps."""
    p = Problem()
    f = p.function(L=1)
    best = f.minimizer()
    x = begun(p, best)
    for step in (near(sqrt(2)), Q(2), near(sqrt(2))):
        x = x - step * f.gradient(x)
    p.maximize(f.value(x) - f.value(best))
    return p


@example("unconstrained", pepit=0.4481251003, theory=(0.9 / 1.1) ** 4)
def exact_line_search() -> Problem:
    """de Klerk, Glineur, Taylor 2017: ``((L - mu) / (L + mu))^(2 n)``."""
    p = Problem()
    f = p.function(mu=Q(1, 10), L=1)
    best, x = f.minimizer(), p.point()
    p.at_most(f.value(x) - f.value(best), 1)
    for _ in range(2):
        x = f.line_search(x, f.gradient(x))
    p.maximize(f.value(x) - f.value(best))
    return p


@example("unconstrained", pepit=0.7536409251, bound=0.95**2)
def heavy_ball() -> Problem:
    """Ghadimi, Feyzmahdavian, Johansson 2015: at most ``(1 - a mu)^n``; ``b^2 < (1 - a mu) (1 - a L)``."""
    p = Problem()
    f = p.function(mu=Q(1, 10), L=1)
    best, x = f.minimizer(), p.point()
    p.at_most(f.value(x) - f.value(best), 1)
    before = x
    for _ in range(2):
        before, x = x, x - Q(1, 2) * f.gradient(x) + Q(11, 16) * (x - before)
    p.maximize(f.value(x) - f.value(best))
    return p


@example("unconstrained", pepit=0.1250000003, theory=1 / 8)
def heavy_ball_under_quadratic_growth() -> Problem:
    """Guille-Escuret, Ibrahim, Goujaud, Mitliagkas 2022: ``L / (2 (n + 1))``."""
    p = Problem()
    f = p.function(quadratic_growth=1)
    best = f.minimizer()
    x = before = begun(p, best)
    for t in range(3):
        before, x = x, x - Q(1, t + 2) * f.gradient(x) + Q(t, t + 2) * (x - before)
    p.maximize(f.value(x) - f.value(best))
    return p


@example("unconstrained", pepit=0.0729927382)
def inexact_fast_gradients() -> Problem:
    """Fast gradients with simple weights, where gradients are off by a tenth of their length."""
    p, n = Problem(), 3
    f = p.function(L=1)
    best = f.minimizer()
    x = y = begun(p, best)
    for i in range(n):
        before, x = x, y - f.inexact_gradient(y, relative=Q(1, 10))
        y = x + Q(i, i + 3) * (x - before)
    p.maximize(f.value(x) - f.value(best))
    return p


HIGH, LOW = Q(11, 10), Q(9, 100)
"""``(1 + e) L`` and ``(1 - e) mu`` for e = 1/10, L = 1, mu = 1/10."""


def inexact_gradients(n: int) -> Problem:
    """Write n steps along gradients that are off by a tenth of their length."""
    p = Problem()
    f = p.function(mu=Q(1, 10), L=1)
    best, x = f.minimizer(), p.point()
    p.at_most(f.value(x) - f.value(best), 1)
    for _ in range(n):
        x = x - 2 / (HIGH + LOW) * f.inexact_gradient(x, relative=Q(1, 10))
    p.maximize(f.value(x) - f.value(best))
    return p


@example("unconstrained", pepit=0.5189166906, theory=float(((HIGH - LOW) / (HIGH + LOW)) ** 4))
def inexact_gradient_descent() -> Problem:
    """de Klerk, Glineur, Taylor 2020: ``((L_e - mu_e) / (L_e + mu_e))^(2 n)``."""
    return inexact_gradients(2)


@example("unconstrained", pepit=0.518916622, theory=float(((HIGH - LOW) / (HIGH + LOW)) ** 4))
def inexact_line_search() -> Problem:
    """de Klerk, Glineur, Taylor 2017: the same with exact line search along inexact gradients."""
    p = Problem()
    f = p.function(mu=Q(1, 10), L=1)
    best, x = f.minimizer(), p.point()
    p.at_most(f.value(x) - f.value(best), 1)
    for _ in range(2):
        x = f.line_search(x, f.inexact_gradient(x, relative=Q(1, 10)))
    p.maximize(f.value(x) - f.value(best))
    return p


@example("unconstrained", pepit=0.8282259817)
def information_theoretic_exact_method() -> Problem:
    """Taylor and Drori 2022: ``1 / (1 + q A_n)``."""
    p, q, A = Problem(), Q(1, 100), Q(0)
    f = p.function(mu=q, L=1)
    best = f.minimizer()
    x = z = begun(p, best)
    for _ in range(3):
        before = A
        A = ((1 + q) * A + 2 * (1 + near(sqrt((1 + A) * (1 + q * A))))) / (1 - q) ** 2
        beta = before / (1 - q) / A
        delta = ((1 - q) ** 2 * A - (1 + q) * before) / (2 * (1 + q + q * before))
        y = (1 - beta) * z + beta * x
        x = y - f.gradient(y)
        z = (1 - q * delta) * z + q * delta * y - delta * f.gradient(y)
    p.maximize((z - best).square)
    return p


def optimized_gradients(n: int) -> Problem:
    """Write n steps of Kim and Fessler's method with L = 3."""
    p = Problem()
    f, t = p.function(L=3), optimized_gradient_weights(n)
    best = f.minimizer()
    x = y = begun(p, best)
    for i in range(n):
        before, x = x, y - Q(1, 3) * f.gradient(y)
        y = x + (t[i] - 1) / t[i + 1] * (x - before) + t[i] / t[i + 1] * (x - y)
    p.maximize(f.value(y) - f.value(best))
    return p


@example("unconstrained", pepit=0.1130771971, theory=float(3 / (2 * optimized_gradient_weights(3)[-1] ** 2)))
def optimized_gradient_method() -> Problem:
    """Kim and Fessler 2016: ``L / (2 t_n^2)``."""
    return optimized_gradients(3)


@example("unconstrained", pepit=0.4523087673, theory=float(6 / optimized_gradient_weights(3)[-1] ** 2))
def optimized_gradient_method_for_gradients() -> Problem:
    """Kim and Fessler 2021: ``2 L / t_n^2`` of the last squared gradient, from a gap of 1."""
    p, n, L = Problem(), 3, 3
    f, t = p.function(L=L), optimized_gradient_weights(n)[::-1]
    best, x = f.minimizer(), p.point()
    p.at_most(f.value(x) - f.value(best), 1)
    y = x
    for i in range(n):
        before, y = y, x - Q(1, L) * f.gradient(x)
        share = (2 * t[i + 1] - 1) / (2 * t[i] - 1)
        x = y + (t[i] - 1) / t[i] * share * (y - before) + share * (y - x)
    p.maximize(f.gradient(x).square)
    return p


@example("unconstrained", pepit=0.0208333372, theory=1 / 48)
def proximal_point() -> Problem:
    """Taylor, Hendrickx, Glineur 2017: ``R^2 / (4 g n)``."""
    p = Problem()
    f = p.function()
    best = f.minimizer()
    x = begun(p, best)
    for _ in range(4):
        x = f.proximal(x, 3)
    p.maximize(f.value(x) - f.value(best))
    return p


@example("unconstrained", pepit=1.0000000015, theory=1)
def subgradient_method() -> Problem:
    """Drori and Teboulle 2016: ``M R / sqrt(n + 1)`` for the best of n + 1 points."""
    p = Problem()
    f = p.function(lipschitz=2)
    best = f.minimizer()
    x = begun(p, best)
    gaps = [f.value(x) - f.value(best)]
    for _ in range(3):
        x = x - Q(1, 4) * f.gradient(x)
        gaps.append(f.value(x) - f.value(best))
    p.maximize(*gaps)
    return p


@example("unconstrained", pepit=0.970299, theory=0.99**3)
def restricted_secants() -> Problem:
    """Guille-Escuret, Ibrahim, Goujaud, Mitliagkas 2022: ``(1 - 2 h mu + h^2 L^2)^n``."""
    p, mu, h = Problem(), Q(1, 10), Q(1, 10)
    best = p.point()
    x = begun(p, best)
    for _ in range(3):
        g = p.vector()
        p.at_most(mu * (x - best).square - g @ (x - best), 0)
        p.at_most(g.square - (x - best).square, 0)
        x = x - h * g
    p.maximize((x - best).square)
    return p


@example("unconstrained", pepit=0.0312500007, bound=0.5**6 * 2)
def triple_momentum() -> Problem:
    """Van Scoy, Freeman, Lynch 2018: at most ``rho^(2 n) L/2 L/mu`` with ``rho = 1 - sqrt(mu/L)``, here 1/2."""
    p, rho = Problem(), Q(1, 2)
    alpha, beta = 1 + rho, rho**2 / (2 - rho)
    gamma, delta = rho**2 / (1 + rho) / (2 - rho), rho**2 / (1 - rho**2)
    f = p.function(mu=Q(1, 4), L=1)
    best = f.minimizer()
    x = y = last = before = begun(p, best)
    for _ in range(3):
        after = (1 + beta) * x - beta * before - alpha * f.gradient(y)
        y = (1 + gamma) * after - gamma * x
        last = (1 + delta) * after - delta * x
        before, x = x, after
    p.maximize(f.value(last) - f.value(best))
    return p


@example("unconstrained", pepit=0.6561000132, theory=0.9**4)
def contraction_of_gradient_descent() -> Problem:
    """Two runs approach each other by ``max(|1 - h mu|, |1 - h L|)`` a step."""
    p = Problem()
    f = p.function(mu=Q(1, 10), L=1)
    y = p.point("other")
    x = begun(p, y)
    for _ in range(2):
        x, y = x - f.gradient(x), y - f.gradient(y)
    p.maximize((x - y).square)
    return p


# ---- composite convex minimization


@example("composite", pepit=0.1929148184)
def accelerated_douglas_rachford() -> Problem:
    """Patrinos, Stella, Bemporad 2014, whose bound is for quadratics."""
    p, mu, L, alpha = Problem(), Q(1, 10), 1, Q(9, 10)
    g, f = p.function(), p.function(mu=mu, L=L)
    both = f + g
    best, theta = both.minimizer(), (1 - alpha * L) / (1 + alpha * L)
    u = begun(p, best + alpha * f.gradient(best))
    y, w = u, u
    for i in range(2):
        x = f.proximal(u, alpha)
        y = g.proximal(2 * x - u, alpha)
        before, w = w, u + theta * (y - x)
        u = w + Q(max(i - 1, 0), i + 2) * (w - before)
    p.maximize(both.value(y) - both.value(best))
    return p


def accelerated_proximal_gradients(momentum: list[Q]) -> Problem:
    """Write proximal gradient steps of 1/L, L = 1, with these shares of momentum."""
    p = Problem()
    f, g = p.function(L=1), p.function()
    best = (f + g).minimizer()
    x = y = begun(p, best)
    for share in momentum:
        before, x = x, g.proximal(y - f.gradient(y), 1)
        y = x + share * (x - before)
    p.maximize((f + g).value(x) - (f + g).value(best))
    return p


@example("composite", pepit=0.0761787884, bound=1 / (2 * 2.1935**2))
def fast_proximal_gradients() -> Problem:
    """Beck and Teboulle 2009: at most ``L / (2 t_n^2)``."""
    t = fast_gradient_weights(3)
    return accelerated_proximal_gradients([(t[i] - 1) / t[i + 1] for i in range(3)])


@example("composite", pepit=0.0769230786, theory=1 / 13)
def fast_proximal_gradients_with_simple_weights() -> Problem:
    """Taylor, Hendrickx, Glineur 2017: ``2 L / (n^2 + 5 n + 2)``."""
    return accelerated_proximal_gradients([Q(i, i + 3) for i in range(3)])


@example("composite", pepit=0.1273220109)
def douglas_rachford() -> Problem:
    """Taylor, Hendrickx, Glineur 2017, Table of PESTO: 0.1273 for two steps."""
    p = Problem()
    g, f = p.function(), p.function(L=1)
    both = g + f
    best, w = both.minimizer(), p.point()
    x = y = f.proximal(w, 1)
    p.at_most((x - best).square, 1)
    for step in range(2):
        x = f.proximal(w, 1) if step else x
        y = g.proximal(2 * x - w, 1)
        w = w + y - x
    p.maximize(both.value(y) - both.value(best))
    return p


@example("composite", pepit=0.5917159852, theory=(1 / 1.3) ** 2)
def contraction_of_douglas_rachford() -> Problem:
    """Giselsson and Boyd 2017: ``max(1 / (1 + a mu), a L / (1 + a L))`` a step, theta = 1, a = 3."""
    p = Problem()
    f, g = p.function(mu=Q(1, 10), L=1), p.function()

    def after(w: Any) -> Any:
        x = g.proximal(w, 3)
        return w + f.proximal(2 * x - w, 3) - x

    other = p.point("other")
    w = begun(p, other)
    p.maximize((after(w) - after(other)).square)
    return p


def frank_wolfe_steps(n: int) -> Problem:
    """Write n steps on a set of diameter 1, L = 1."""
    p = Problem()
    f, inside = p.function(L=1), p.indicator(diameter=1)
    best, x = (f + inside).minimizer(), p.point()
    inside.value(x)
    for i in range(n):
        x = Q(i, i + 2) * x + Q(2, i + 2) * inside.linear_minimizer(f.gradient(x))
    p.maximize(f.value(x) - f.value(best))
    return p


@example("composite", pepit=0.500000008, bound=2 / 3)
def frank_wolfe() -> Problem:
    """Jaggi 2013: at most ``2 L D^2 / (n + 2)``."""
    return frank_wolfe_steps(1)


# PEPit's float is off by 1e-4, with either solver: the worst case, (3 - sqrt 5)/2, is approached as subgradients grow.
@example("composite", pepit=0.3818666041, theory=(3 - sqrt(5)) / 2, bound=1, pepit_is_off=True)
def improved_interior_algorithm() -> Problem:
    """Auslender and Teboulle 2006: at most ``4 L / (c (n + 1)^2)``, here L = c = 1 and the kernel has mu = 1."""
    p, c = Problem(), Q(1)
    f, inside, h = p.function(L=1), p.indicator(), p.function(mu=1)
    best, x = (f + inside).minimizer(), p.point()
    pull, gap = h.gradient(x), f.value(x) - f.value(best)
    p.at_most(h.value(best) - h.value(x) - pull @ (best - x) + gap, 1)
    z = x
    for _ in range(1):
        alpha = (near(sqrt(c**2 + 4 * c)) - c) / 2
        c = (1 - alpha) * c
        y = (1 - alpha) * x + alpha * z
        z = (h + inside).linear_minimizer(alpha / c * f.gradient(y) - pull)
        pull = h.gradient(z)
        x = (1 - alpha) * x + alpha * z
    inside.value(x)
    p.maximize(f.value(x) - f.value(best))
    return p


@example("composite", pepit=1.0000000005, theory=1)
def no_lips() -> Problem:
    """Bauschke, Bolte, Teboulle 2017; Dragomir, Taylor, d'Aspremont, Bolte 2021: ``D / (g n)``; ``h - f`` is convex."""
    p = Problem()
    d, f, inside = p.function(), p.function(), p.indicator()
    h = d + f
    best, x = (f + inside).minimizer(), p.point()
    p.at_most(h.value(best) - h.value(x) - h.gradient(x) @ (best - x), 1)
    y = (h + inside).linear_minimizer(f.gradient(x) - h.gradient(x))
    p.maximize(f.value(y) - f.value(best))
    return p


@example("composite", pepit=0.6561000029, theory=0.9**4)
def proximal_gradient() -> Problem:
    """Taylor, Hendrickx, Glineur 2018: ``max((1 - h mu)^2, (1 - h L)^2)^n``."""
    p = Problem()
    f, g = p.function(mu=Q(1, 10), L=1), p.function()
    best = (f + g).minimizer()
    x = begun(p, best)
    for _ in range(2):
        x = g.proximal(x - f.gradient(x), 1)
    p.maximize((x - best).square)
    return p


@example("composite", pepit=0.8303797424)
def three_operator_splitting() -> Problem:
    """Davis and Yin 2017, two runs from a distance of 1."""
    p = Problem()
    f, g, smooth = p.function(mu=Q(1, 10), L=10), p.function(), p.function(L=1)

    def after(w: Any) -> Any:
        x = g.proximal(w, 1)
        return w + f.proximal(2 * x - w - smooth.gradient(x), 1) - x

    other = p.point("other")
    w = begun(p, other)
    p.maximize((after(w) - after(other)).square)
    return p


# ---- stochastic methods and finite sums


@example("stochastic", pepit=0.7187500001, bound=3 / 4)
def point_saga() -> Problem:
    """Defazio 2016: a potential shrinks to ``1 / (1 + mu g)`` or less; the step is 1 for n = 2, mu = 1/3."""
    p, mu, n = Problem(), Q(1, 3), 2
    f = [p.function(mu=mu, L=1) for _ in range(n)]
    best, x = (f[0] + f[1]).minimizer(), p.point()
    stored = [p.vector() for _ in range(n)]
    off = [1 / (n * mu) * (one.gradient(best) - kept).square for one, kept in zip(f, stored, strict=True)]
    p.at_most((x - best).square + off[0] + off[1], 1)
    outcomes = []
    for i in range(n):
        y = f[i].proximal(x + stored[i] - Q(1, 2) * (stored[0] + stored[1]), 1)
        new = 1 / (n * mu) * (f[i].gradient(best) - f[i].gradient(y)).square
        outcomes.append((y - best).square + new + off[1 - i])
    p.maximize(p.mean(outcomes))
    return p


@example("stochastic", pepit=1.0000000023, theory=1)
def random_coordinates() -> Problem:
    """Taylor and Bach 2019: ``d_t (f - f*) + L/2 |x - x*|^2`` with ``d_t = t h L / d + 1`` does not grow; t = 4."""
    p = Problem()
    f = p.function(L=1)
    best, x, half = f.minimizer(), p.point(), p.vector()
    rest = f.gradient(x) - half
    p.equal_to(half @ rest, 0)

    def potential(t: int, x: Any) -> Any:
        return (Q(t, 2) + 1) * (f.value(x) - f.value(best)) + Q(1, 2) * (x - best).square

    p.at_most(potential(3, x), 1)
    p.maximize(p.mean([potential(4, x - half), potential(4, x - rest)]))
    return p


@example("stochastic", pepit=0.8347107583, theory=((1 - 2 / 11) ** 2 + 1) / 2)
def random_coordinates_of_strongly_convex_functions() -> Problem:
    """Taylor and Bach 2019: ``(max((1 - h mu)^2, (1 - h L)^2) + d - 1) / d``."""
    p = Problem()
    f = p.function(mu=Q(1, 10), L=1)
    best = f.minimizer()
    x, half = begun(p, best), p.vector()
    rest = f.gradient(x) - half
    p.equal_to(half @ rest, 0)
    p.maximize(p.mean([(x - Q(20, 11) * part - best).square for part in (half, rest)]))
    return p


@example("stochastic", pepit=0.958333335, theory=23 / 24)
def saga() -> Problem:
    """Defazio, Bach, Lacoste-Julien 2014: a potential shrinks by ``1 - g mu``, ``g = 1 / (2 (mu n + L))``."""
    p, mu, n = Problem(), Q(1, 10), 2
    step = 1 / (2 * (mu * n + 1))
    c = 1 / (2 * step * (1 - mu * step) * n)
    h, f = p.function(), [p.function(mu=mu, L=1) for _ in range(n)]
    best, x = (Q(1, 2) * f[0] + Q(1, 2) * f[1] + h).minimizer(), p.point()
    stored = [p.point() for _ in range(n)]

    def divergence(i: int, y: Any) -> Any:
        return Q(1, n) * (f[i].value(y) - f[i].value(best) - f[i].gradient(best) @ (y - best))

    p.at_most(c * (x - best).square + divergence(0, stored[0]) + divergence(1, stored[1]), 1)
    slopes = [one.gradient(y) for one, y in zip(f, stored, strict=True)]
    outcomes = []
    for i in range(n):
        direction = f[i].gradient(x) - slopes[i] + Q(1, 2) * (slopes[0] + slopes[1])
        y = h.proximal(x - step * direction, step)
        outcomes.append(c * (y - best).square + divergence(i, x) + divergence(1 - i, stored[1 - i]))
    p.maximize(p.mean(outcomes))
    return p


@example("stochastic", pepit=5.0416523267, theory=(0.9 + sqrt(1.21 * (1 - 2 / 1.1) ** 2 + 1)) ** 2)
def stochastic_gradients() -> Problem:
    """Taylor and Bach 2019: ``(h R (L - mu)/2 + sqrt(R^2 (L + mu)^2/4 (h - 2/(L + mu))^2 + h^2 v^2))^2``, R = 2."""
    p = Problem()
    f = [p.function(mu=Q(1, 10), L=1) for _ in range(2)]
    best, x = (f[0] + f[1]).minimizer(), p.point()
    p.at_most((x - best).square, 4)
    p.at_most(p.mean([one.gradient(best).square for one in f]), 1)
    p.maximize(p.mean([(x - one.gradient(x) - best).square for one in f]))
    return p


@example("stochastic", pepit=0.8100000109, theory=0.81)
def stochastic_gradients_that_agree() -> Problem:
    """The same where all gradients are 0 at the minimizer: ``max((1 - h mu)^2, (1 - h L)^2)``."""
    p = Problem()
    f = [p.function(mu=Q(1, 10), L=1) for _ in range(2)]
    best = f[0].minimizer()
    f[1].known(best, 0 * best)
    x = begun(p, best)
    p.maximize(p.mean([(x - one.gradient(x) - best).square for one in f]))
    return p


# ---- nonconvex optimization


@example("nonconvex", pepit=0.7128712863, theory=3.6 / 5.05)
def difference_of_convex_functions() -> Problem:
    """Abbaszadehpeivasti, de Klerk, Zamani 2021, Theorem 3.1; mu = 1/10 and 1/5, L = 1 and 2."""
    p, n, largest = Problem(), 1, 1 - Q(1, 5)
    f, g = p.function(mu=Q(1, 10), L=1), p.function(mu=Q(1, 5), L=2)
    whole = f + -1 * g
    best, x = whole.stationary_point(), p.point()
    lowest = whole.value(best)
    p.at_most(whole.value(x) - lowest, 1)
    slopes = []
    for step in range(n + 1):
        x = f.linear_minimizer(-g.gradient(x)) if step else x
        slopes.append(whole.gradient(x).square)
        p.at_most(lowest - whole.value(x) + 1 / (2 * largest) * slopes[-1], 0)
    p.maximize(*slopes)
    return p


def steps_of_a_nonconvex_function(n: int) -> Problem:
    """Write n steps of 1/L, and the least squared gradient where the function loses at most 1."""
    p = Problem()
    f = p.function(mu=-1, L=1)
    x = first = p.point()
    slopes = [f.gradient(x).square]
    for _ in range(n):
        x = x - f.gradient(x)
        slopes.append(f.gradient(x).square)
    p.at_most(f.value(first) - f.value(x), 1)
    p.maximize(*slopes)
    return p


@example("nonconvex", pepit=0.4444444448, theory=4 / 9)
def gradient_descent_of_nonconvex_functions() -> Problem:
    """Taylor 2017, page 190: ``4 L / (3 n)``."""
    return steps_of_a_nonconvex_function(3)


@example("nonconvex", pepit=0.7272727333, theory=8 / 11)
def polyak_and_lojasiewicz() -> Problem:
    """Abbaszadehpeivasti, de Klerk, Zamani 2023, a step of 1/L; conditions are necessary only, as PEPit's are."""
    p = Problem()
    f = p.function(mu=-1, L=1, polyak=Q(1, 5))
    best, x = f.minimizer(), p.point()
    p.at_most(f.value(x) - f.value(best), 1)
    p.maximize(f.value(x - f.gradient(x)) - f.value(best))
    return p


def nonconvex_bregman_gradient(step: Q) -> tuple[Problem, Any, Any]:
    """Write a mirror step of ``f + indicator`` where ``h - f`` and ``h + f`` are convex; the objective loses 1."""
    p = Problem()
    low, high, inside = p.function(), p.function(), p.indicator()
    f, h = Q(1, 2) * high + Q(-1, 2) * low, Q(1, 2) * high + Q(1, 2) * low
    x = p.point()
    inside.value(x)
    y = (h + inside).linear_minimizer(step * f.gradient(x) - h.gradient(x))
    p.at_most(f.value(x) - f.value(y), 1)
    ahead = h.value(y) - h.value(x) - h.gradient(x) @ (y - x)
    return p, ahead, h.value(x) - h.value(y) - h.gradient(y) @ (x - y)


@example("nonconvex", pepit=0.9999999996, theory=1)
def divergences_ahead() -> Problem:
    """Bolte, Sabach, Teboulle, Vaisbourd 2018: ``g / (n (1 - L g))``."""
    p, ahead, _ = nonconvex_bregman_gradient(Q(1, 2))
    p.maximize(ahead)
    return p


@example("nonconvex", pepit=1.0000000002, theory=1)
def divergences_behind() -> Problem:
    """Bolte, Sabach, Teboulle, Vaisbourd 2018: ``g / n``."""
    p, _, behind = nonconvex_bregman_gradient(Q(1))
    p.maximize(behind)
    return p


# ---- monotone inclusions and variational inequalities


@example("monotone", pepit=0.1111111277, theory=1 / 9)
def accelerated_proximal_point() -> Problem:
    """Kim 2021: ``R^2 / n^2`` of the last squared residual."""
    p = Problem()
    A = p.operator(monotone=True)
    x = y = before = begun(p, A.zero())
    for i in range(2):
        after, share = A.resolvent(y, 2), Q(i, i + 2)
        before, y, x = y, after + share * (after - x) - share * (x - before), after
    p.maximize((A.resolvent(y, 2) - y).square)
    return p


@example("monotone", pepit=0.9287706953, theory=0.9287706932298526)
def douglas_rachford_of_a_lipschitz_operator() -> Problem:
    """Ryu, Taylor, Bergeling, Giselsson 2020, Theorem 4.3; step 1.3 and theta = 0.9."""
    p, alpha = Problem(), Q(13, 10)
    A, B = p.operator(monotone=True, lipschitz=1), p.operator(strongly_monotone=Q(1, 10))

    def after(w: Any) -> Any:
        x = B.resolvent(w, alpha)
        return w - Q(9, 10) * (x - A.resolvent(2 * x - w, alpha))

    other = p.point("other")
    w = begun(p, other)
    p.maximize((after(w) - after(other)).square)
    return p


@example("monotone", pepit=0.9145301172, theory=0.9145301159392969)
def douglas_rachford_of_a_cocoercive_operator() -> Problem:
    """Ryu, Taylor, Bergeling, Giselsson 2020, Theorem 4.1; step 0.3 and theta = 1.5."""
    p, alpha = Problem(), Q(3, 10)
    A, B = p.operator(cocoercive=Q(6, 5)), p.operator(strongly_monotone=Q(1, 10))

    def after(w: Any) -> Any:
        x = B.resolvent(w, alpha)
        return w - Q(3, 2) * (x - A.resolvent(2 * x - w, alpha))

    other = p.point("other")
    w = begun(p, other)
    p.maximize((after(w) - after(other)).square)
    return p


@example("monotone", pepit=0.0912733553, theory=(0.1 / (1.1**3 - 1)) ** 2)
def optimal_proximal_point_of_strongly_monotone_operators() -> Problem:
    """Park and Ryu 2022: ``(2 mu / ((1 + 2 mu)^n - 1))^2``."""
    p, mu = Problem(), Q(1, 20)
    A = p.operator(strongly_monotone=mu)

    def phi(k: int) -> Q:
        return sum(((1 + 2 * mu) ** (2 * j) for j in range(k + 1)), start=Q(0))

    x = y = before = begun(p, A.zero())
    for i in range(3):
        after = A.resolvent(y, 1)
        push = (phi(i) - 1) / phi(i + 1) * (after - x) - 2 * mu * phi(i) / phi(i + 1) * (y - after)
        y_after = after + push + (1 + 2 * mu) * phi(i - 1) / phi(i + 1) * (before - x)
        x, before, y = after, y, y_after
    p.maximize((before - x).square)
    return p


def variational_inequality(p: Problem) -> tuple[Any, Any, Any]:
    """Return a monotone Lipschitz operator, a set, and the projection of a start near a solution."""
    F, inside = p.operator(monotone=True, lipschitz=1), p.indicator()
    best = p.point()
    inside.known(best, -F(best))
    return F, inside, inside.proximal(begun(p, best), Q(1, 4))


@example("monotone", pepit=1.0041479712)
def past_extragradients() -> Problem:
    """Gorbunov, Taylor, Gidel 2022: the last squared step; conditions are necessary only, as PEPit's are."""
    p, step = Problem(), Q(1, 4)
    F, inside, x = variational_inequality(p)
    y = before = x
    for _ in range(1):
        y = inside.proximal(x - step * F(y), step)
        before, x = x, inside.proximal(x - step * F(y), step)
    p.maximize((x - before).square)
    return p


def proximal_points_of_an_operator(n: int, step: Q) -> Problem:
    """Write n steps from a distance of 1 of a zero, and the last squared step."""
    p = Problem()
    A = p.operator(monotone=True)
    x = before = begun(p, A.zero())
    for _ in range(n):
        before, x = x, A.resolvent(x, step)
    p.maximize((x - before).square)
    return p


@example("monotone", pepit=0.1481481547, theory=4 / 27)
def proximal_point_of_an_operator() -> Problem:
    """Gu and Yang 2020: ``(1 - 1/n)^(n - 1) / n``."""
    return proximal_points_of_an_operator(3, Q(2))


@example("monotone", pepit=0.779689002)
def three_operators() -> Problem:
    """Davis and Yin 2017: a monotone and a cocoercive operator, and a gradient; step 0.9 and theta = 1.3."""
    p, alpha = Problem(), Q(9, 10)
    A, B, f = p.operator(monotone=True), p.operator(cocoercive=1), p.function(mu=Q(1, 10), L=1)

    def after(w: Any) -> Any:
        x = B.resolvent(w, alpha)
        return w - Q(13, 10) * (x - A.resolvent(2 * x - w - alpha * f.gradient(x), alpha))

    other = p.point("other")
    w = begun(p, other)
    p.maximize((after(w) - after(other)).square)
    return p


# ---- fixed points


def halpern_steps(n: int) -> Problem:
    """Write n steps of a nonexpansive operator, and the squared residual."""
    p = Problem()
    T = p.operator(nonexpansive=True)
    x = first = begun(p, T.fixed_point())
    for k in range(n):
        x = Q(1, k + 2) * first + Q(k + 1, k + 2) * T(x)
    p.maximize((x - T(x)).square)
    return p


@example("fixed points", pepit=0.250000012, theory=1 / 4)
def halpern() -> Problem:
    """Lieder 2021: ``4 / (n + 1)^2``."""
    return halpern_steps(3)


def krasnoselskii_mann(shares: list[Q]) -> Problem:
    """Write steps that keep these shares of a point, and the squared half of the residual."""
    p = Problem()
    T = p.operator(nonexpansive=True)
    x = begun(p, T.fixed_point())
    for share in shares:
        x = share * x + (1 - share) * T(x)
    p.maximize(Q(1, 4) * (x - T(x)).square)
    return p


@example("fixed points", pepit=0.1406249993, theory=27 / 256 / (4 * 3 / 16))
def krasnoselskii_mann_with_constant_steps() -> Problem:
    """Lieder 2018: ``(n / (n + 1))^n / (4 (n + 1) g (1 - g))``."""
    return krasnoselskii_mann([Q(1, 4)] * 3)


@example("fixed points", pepit=0.1196337114)
def krasnoselskii_mann_with_increasing_steps() -> Problem:
    """The same with steps of ``1 - 1 / (k + 2)``."""
    return krasnoselskii_mann([Q(1, k + 2) for k in range(3)])


@example("fixed points", pepit=0.169211588, theory=0.16921158063752498)
def halpern_of_a_contraction() -> Problem:
    """Park and Ryu 2022: ``(1 + 1/g)^2 ((g - 1) / (g^(n + 1) - 1))^2`` for a contraction by ``1/g``."""
    p, g = Problem(), Q(11, 10)
    T = p.operator(lipschitz=1 / g)
    x = first = begun(p, T.fixed_point())
    for k in range(3):
        share = (g**2 - 1) / (g ** (2 * k + 4) - 1)
        x = share * first + (1 - share) * T(x)
    p.maximize((x - T(x)).square)
    return p


# ---- potential functions: PEPit maximizes the growth, 0; here the potential after a step is asked for, from 1


@example("potentials", pepit=1, theory=1)
def potential_of_gradient_descent() -> Problem:
    """Bansal and Gupta 2019: ``n (f - f*) + L/2 |x - x*|^2`` does not grow; n = 10."""
    p, n = Problem(), 10
    f = p.function(L=1)
    best, x = f.minimizer(), p.point()
    y = x - f.gradient(x)
    p.at_most(n * (f.value(x) - f.value(best)) + Q(1, 2) * (x - best).square, 1)
    p.maximize((n + 1) * (f.value(y) - f.value(best)) + Q(1, 2) * (y - best).square)
    return p


@example("potentials", pepit=1, theory=1)
def potential_with_gradients() -> Problem:
    """Taylor and Bach 2019: ``(2n+1) L (f - f*) + n (n+2) |g|^2 + L^2 |x - x*|^2`` does not grow; n = 10."""
    p, n = Problem(), 10
    f = p.function(L=1)
    best, x = f.minimizer(), p.point()

    def potential(k: int, x: Any) -> Any:
        gap = f.value(x) - f.value(best)
        return (2 * k + 1) * gap + k * (k + 2) * f.gradient(x).square + (x - best).square

    p.at_most(potential(n, x), 1)
    p.maximize(potential(n + 1, x - f.gradient(x)))
    return p


# ---- inexact proximal steps


@example("inexact proximal", pepit=0.7758986243, theory=0.775898596650068)
def partially_inexact_douglas_rachford() -> Problem:
    """Eckstein and Yao 2018; Barre, Taylor, Bach 2020: the larger of two contractions, sigma = 1/5, step 1.4."""
    p, step, sigma = Problem(), Q(7, 5), Q(1, 5)
    f, g = p.function(mu=Q(1, 10), L=5), p.function()
    best = (f + g).minimizer()
    target = best + step * f.gradient(best)
    z, x = begun(p, target), p.point()
    slope = f.gradient(x)
    y = g.proximal(x - step * slope, step)
    p.at_most((x - z + step * slope).square - sigma**2 * (y - z + step * slope).square, 0)
    p.maximize((z + y - x - target).square)
    return p


@example("inexact proximal", pepit=0.0221541092, bound=1.65 / (40 * 2 ** sqrt(1 - 0.65**2)))
def relatively_inexact_proximal_point() -> Problem:
    """Barre, Taylor, Bach 2020: at most ``(1 + sigma) / (4 g n^sqrt(1 - sigma^2))``."""
    p, step, sigma = Problem(), 10, Q(13, 20)
    f = p.function()
    best = f.minimizer()
    x = begun(p, best)
    for _ in range(2):
        y = p.point()
        p.at_most((y - x + step * f.gradient(y)).square - sigma**2 * (y - x).square, 0)
        x = y
    p.maximize(f.value(x) - f.value(best))
    return p


# ---- adaptive methods


@example("adaptive", pepit=0.6694214881, theory=81 / 121)
def polyak_steps_and_distances() -> Problem:
    """Barre, Taylor, d'Aspremont 2020: ``(g L - 1) (1 - g mu) / (g (L + mu) - 1)``."""
    p, step = Problem(), Q(20, 11)
    f = p.function(mu=Q(1, 10), L=1)
    best = f.minimizer()
    x = begun(p, best)
    p.equal_to(step * f.gradient(x).square - 2 * (f.value(x) - f.value(best)), 0)
    p.maximize((x - step * f.gradient(x) - best).square)
    return p


@example("adaptive", pepit=0.6694214418, theory=81 / 121)
def polyak_steps_and_values() -> Problem:
    """Barre, Taylor, d'Aspremont 2020: ``(g L - 1) (L g (3 - g (L + mu)) - 1)``."""
    p, step = Problem(), Q(20, 11)
    f = p.function(mu=Q(1, 10), L=1)
    best, x = f.minimizer(), p.point()
    p.at_most(f.value(x) - f.value(best), 1)
    p.equal_to(f.gradient(x).square - 2 * (2 - step) * (f.value(x) - f.value(best)), 0)
    p.maximize(f.value(x - step * f.gradient(x)) - f.value(best))
    return p


# ---- low-dimensional worst cases, of which PEPit looks for one of a small rank: the value is the same


def two_sets(p: Problem) -> tuple[Any, Any, Any]:
    """Return two convex sets with a common point, and a start at a distance of 1 from it."""
    one, other = p.indicator(), p.indicator()
    common = p.point()
    one.value(common)
    other.value(common)
    return one, other, begun(p, common)


@example("low-dimensional", pepit=0.0669795957)
def alternate_projections() -> Problem:
    """von Neumann 1949: squared distance of the last point to the other set after three rounds."""
    p = Problem()
    one, other, x = two_sets(p)
    for _ in range(3):
        x = other.proximal(one.proximal(x, 1), 1)
    p.maximize((x - one.proximal(x, 1)).square)
    return p


@example("low-dimensional", pepit=0.2679183835)
def averaged_projections() -> Problem:
    """Squared distance of both projections after two steps."""
    p = Problem()
    one, other, x = two_sets(p)
    for _ in range(2):
        x = Q(1, 2) * (one.proximal(x, 1) + other.proximal(x, 1))
    p.maximize((one.proximal(x, 1) - other.proximal(x, 1)).square)
    return p


@example("low-dimensional", pepit=0.1313464415)
def dykstra() -> Problem:
    """Boyle and Dykstra 1986: squared distance of the last point to the other set after two rounds."""
    p = Problem()
    one, other, x = two_sets(p)
    kept, kept_too = 0 * x, 0 * x
    for _ in range(2):
        y = one.proximal(x + kept, 1)
        kept = x + kept - y
        x = other.proximal(y + kept_too, 1)
        kept_too = y + kept_too - x
    p.maximize((x - one.proximal(x, 1)).square)
    return p


@example("low-dimensional", pepit=0.500000008, bound=2 / 3)
def low_dimensional_frank_wolfe() -> Problem:
    """Jaggi 2013: at most ``2 L D^2 / (n + 2)``."""
    return frank_wolfe_steps(1)


@example("low-dimensional", pepit=0.6666666673, theory=2 / 3)
def low_dimensional_gradient_descent() -> Problem:
    """Taylor 2017, page 190: ``4 L / (3 n)``."""
    return steps_of_a_nonconvex_function(2)


@example("low-dimensional", pepit=0.4444444499, theory=4 / 9)
def low_dimensional_halpern() -> Problem:
    """Lieder 2021: ``4 / (n + 1)^2``."""
    return halpern_steps(2)


@example("low-dimensional", pepit=0.720358803, theory=float(((HIGH - LOW) / (HIGH + LOW)) ** 2))
def low_dimensional_inexact_gradients() -> Problem:
    """de Klerk, Glineur, Taylor 2020: ``((L_e - mu_e) / (L_e + mu_e))^(2 n)``."""
    return inexact_gradients(1)


@example("low-dimensional", pepit=0.1856825488, theory=float(3 / (2 * optimized_gradient_weights(2)[-1] ** 2)))
def low_dimensional_optimized_gradients() -> Problem:
    """Kim and Fessler 2016: ``L / (2 t_n^2)``."""
    return optimized_gradients(2)


@example("low-dimensional", pepit=0.2500000309, theory=1 / 4)
def low_dimensional_proximal_point() -> Problem:
    """Gu and Yang 2020: ``(1 - 1/n)^(n - 1) / n``."""
    return proximal_points_of_an_operator(2, Q(11, 5))


# ---- continuous time: how fast a potential changes; where PEPit's answer is 0, a potential of 1 is added


@example("continuous time", pepit=1, theory=1)
def gradient_flow() -> Problem:
    """Su, Boyd, Candes 2016: ``t (f - f*) + |x - x*|^2 / 2`` does not grow; t = 5/2."""
    p, t = Problem(), Q(5, 2)
    f = p.function()
    best, x = f.minimizer(), p.point()
    speed = -f.gradient(x)
    gap = f.value(x) - f.value(best)
    potential = t * gap + Q(1, 2) * (x - best).square
    p.at_most(potential, 1)
    p.maximize(potential + gap + t * f.gradient(x) @ speed + (x - best) @ speed)
    return p


def accelerated_flow(potential: Callable[[Any, Any, Any], Any], change: Callable[[Any, Any, Any], Any]) -> Problem:
    """Write ``x'' = -2 sqrt(mu) x' - grad f`` with mu = 1/4, and a quadratic potential beside ``f - f*``."""
    p = Problem()
    f = p.function(mu=Q(1, 4))
    best, x, speed = f.minimizer(), p.point(), p.vector()
    slope = f.gradient(x)
    p.equal_to(f.value(x) - f.value(best) + potential(x - best, speed, None), 1)
    p.maximize(slope @ speed + change(x - best, speed, -speed - slope))
    return p


@example("continuous time", pepit=-0.5000000033, theory=-0.5)
def accelerated_flow_with_a_positive_potential() -> Problem:
    """Wilson, Recht, Jordan 2021: ``f - f* + |sqrt(mu) (x - x*) + x'|^2 / 2`` shrinks at the rate ``sqrt(mu)``."""
    half = Q(1, 2)
    return accelerated_flow(
        lambda y, speed, _: half * (half * y + speed).square,
        lambda y, speed, push: (half * y + speed) @ (half * speed + push),
    )


@example("continuous time", pepit=-0.6666666916, theory=-2 / 3)
def accelerated_flow_with_an_indefinite_potential() -> Problem:
    """Sanz-Serna and Zygalakis 2021: another potential shrinks at the rate ``4/3 sqrt(mu)``."""
    third = Q(1, 3)
    return accelerated_flow(
        lambda y, speed, _: third**2 * y.square + 2 * third * y @ speed + Q(1, 2) * speed.square,
        lambda y, speed, push: 2 * third**2 * y @ speed + 2 * third * (speed.square + y @ push) + push @ speed,
    )


# ---- online learning: the regret against a fixed point of the set, M = 1 and D = 1/2


def losses(p: Problem, n: int) -> tuple[list[Any], Any, Any, Any]:
    """Return Lipschitz functions, a set, what is compared with, and a start in the set."""
    f, inside = [p.function(lipschitz=1) for _ in range(n)], p.indicator(diameter=Q(1, 2))
    reference, x = p.point(), p.point()
    inside.value(reference)
    inside.value(x)
    return f, inside, reference, x


@example("online", pepit=0.7071067879, theory=sqrt(2) / 2)
def online_gradient_descent() -> Problem:
    """Orabona 2019: ``M D sqrt(n)``."""
    p, n = Problem(), 2
    step = near(1 / (2 * sqrt(n)))
    f, inside, reference, x = losses(p, n)
    regret = f[0].value(x) - f[0].value(reference)
    x = inside.proximal(x - step * f[0].gradient(x), step)
    p.maximize(regret + f[1].value(x) - f[1].value(reference))
    return p


@example("online", pepit=0.9330127042)
def follow_the_leader() -> Problem:
    """Two rounds; the regret may grow linearly."""
    p = Problem()
    f, inside, reference, x = losses(p, 2)
    regret = f[0].value(x) - f[0].value(reference)
    x = (inside + f[0]).stationary_point()
    p.maximize(regret + f[1].value(x) - f[1].value(reference))
    return p


@example("online", pepit=0.7071067848, theory=sqrt(2) / 2)
def follow_the_regularized_leader() -> Problem:
    """Orabona 2019: ``M D sqrt(n)``."""
    p, n = Problem(), 2
    step = near(1 / (2 * sqrt(n)))
    f, inside, reference, x = losses(p, n)
    y = p.point()
    inside.known(y, 1 / step * (x - y) - f[0].gradient(y))
    p.maximize(f[0].value(x) - f[0].value(reference) + f[1].value(y) - f[1].value(reference))
    return p


@example("online", pepit=1.3975425823, bound=2)
def online_frank_wolfe() -> Problem:
    """Hazan and Kale 2012: at most ``4 / 3^(3/4) M D n^(3/4)``; for n = 3 a step goes all the way to a vertex."""
    p, n = Problem(), 3
    f, inside, reference, x = losses(p, n)
    first, total, regret = x, 0 * x, []
    for one in f:
        regret.append(one.value(x) - one.value(reference))
        total = total + one.gradient(x)
        x = inside.linear_minimizer(x - first + Q(1, 4) * total)
    p.maximize(regret[0] + regret[1] + regret[2])
    return p


GALLERY = [one for one in list(globals().values()) if isinstance(one, Example)]

SLOW = "proved on both sides, but not in two seconds"
NOT_DONE: dict[str, str] = {
    "accelerated_gradient_flow_convex": "no side in 15 s: nothing bounds speed and subgradient",
    "accelerated_gradient_method (potential)": "the upper side lacks a proof after 20 s",
    "accelerated_inexact_forward_backward": "upper side 0.2593850681 for two steps, no lower one",
    "bregman_proximal_point": "no proof in 20 s for two steps; all products are free numbers, a linear program",
    "conjugate_gradient": f"{SLOW}: 8 s for two steps, where points of the line search have null squares",
    "conjugate_gradient_qg_convex": f"{SLOW}: 17 s for three steps; 0.25 to 0.2500017 for one",
    "epsilon_subgradient_method": "upper side 1.4633294061 for one step, no lower one",
    "gradient_descent_lc": "lower side 0.1494464944 of a general map, which theory says, no upper one",
    "gradient_descent_quadratic_lojasiewicz_expensive": "two matrices of variables for each pair of points",
    "gradient_descent_quadratic_lojasiewicz_intermediate": "a family of conditions with a parameter",
    "gradient_flow_strongly_convex": "neither side: the subgradient's products with points know no least square",
    "inconsistent_halpern_iteration": "no side has a proof; the displacement and its points share one ray",
    "no_lips_in_bregman_divergence": f"{SLOW}: 9 s, 1 to 1.00000001 for two steps",
    "optimistic_gradient": "upper side 1.298 for one step, where PEPit says 1.0625: not sharp",
    "optimistic_gradient_refined": "two matrices of variables for each pair of points",
    "optimistic_gradient_refined_cocoercive": "two matrices of variables for each pair of points",
    "proximal_gradient_quadratics": "no side has a proof: a block for the Hessian, and free subgradients",
    "robust_momentum": "lower side 0.3024999999, which theory says, no upper one",
}
"""PEPit's examples that are not here, with the reason."""
