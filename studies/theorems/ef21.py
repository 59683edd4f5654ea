"""EF21 of Richtarik, Sokolov and Fatkhullin (2021): a step under the Polyak-Lojasiewicz condition, as quoted.

The worst case is over one strongly convex client, for whom the condition holds. The ratio for all losses with the
condition is at most the computed one. ``distortion`` is ``sqrt(1 - alpha)``, so that ``|C(v) - v| <= distortion |v|``.
"""

from fractions import Fraction
from typing import Any

from fedtheory.bounds.ef21 import PAPER
from fedtheory.theorem import POSITIVE, Hypothesis, LeftSide, Smooth, states
from fedtheory.worst_case import Problem

POLYAK = Hypothesis("|grad F|^2 >= 2 mu (F - F*)", lambda mu, L: (mu, "<=", L))
SHORT = Hypothesis(
    "step_size <= 1/(L + L sqrt(2 beta/theta)) with theta = 1 - distortion and beta = distortion^2/theta",
    lambda step_size, L, distortion: (2 * (step_size * L * distortion) ** 2, "<=",
                                      ((1 - step_size * L) * (1 - distortion)) ** 2),
)  # fmt: skip
CONVERGENT = Hypothesis("step_size L <= 1", lambda step_size, L: (step_size * L, "<=", 1))
FLAT = Hypothesis(
    "step_size <= theta/(2 mu)", lambda step_size, mu, distortion: (2 * step_size * mu, "<=", 1 - distortion)
)


@states(
    PAPER,
    "Theorem 2",
    left=LeftSide("potential", "F(w_+) - F* + eta/theta |g_+ - grad F(w_+)|^2", after="step"),
    assumes=(Smooth(of="F"), POLYAK, SHORT, CONVERGENT, FLAT),
    domains={"potential": POSITIVE, "distortion": POSITIVE},
)
def feedback_step(potential, *, mu, L, distortion, step_size):
    """Bound on the potential after a step."""
    return {"contracted": (1 - step_size * mu) * potential}


def method(mu: Any, distortion: Any, step_size: Any, L: Any = 1, potential: Any = 1) -> Problem:
    p = Problem()
    f = p.function(mu, L)
    best, w, g, weight = f.minimizer(), p.point("w"), p.point("g"), step_size / (1 - distortion)
    p.at_most(f.value(w) - f.value(best) + weight * (g - f.gradient(w)).square, potential, "potential")
    after = w - step_size * g
    new = f.gradient(after)
    p.maximize(f.value(after) - f.value(best) + weight * (g + p.compressed(new - g, distortion**2) - new).square)
    return p


def domain(mu: Any, distortion: Any, step_size: Any) -> list[Any]:
    return [mu > 0, mu < 1, distortion > 0, distortion <= Fraction(9, 10), step_size > 0, step_size < 1]
