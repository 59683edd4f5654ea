"""EF21 of Richtarik, Sokolov and Fatkhullin (2021): the mean squared gradient for smooth losses, as quoted.

The worst case is over one client. The ratio for several clients, none of whom is less smooth than their mean, is at
most the computed one. ``distortion`` is ``sqrt(1 - alpha)``, so that ``|C(v) - v| <= distortion |v|``.
"""

from typing import Any

from fedtheory.bounds.ef21 import PAPER
from fedtheory.theorem import POSITIVE, Hypothesis, LeftSide, Smooth, states
from fedtheory.worst_case import Problem

SHORT = Hypothesis(
    "step_size <= 1/(L + L sqrt(beta/theta)) with theta = 1 - distortion and beta = distortion^2/theta",
    lambda step_size, L, distortion: (step_size * L, "<=", 1 - distortion),
)


@states(
    PAPER,
    "Theorem 1",
    left=LeftSide("squared gradient", "1/T sum_{t<T} |grad F(w_t)|^2", model="all"),
    assumes=(Smooth(of="F"), SHORT),
    domains={"memory_error2": POSITIVE, "distortion": POSITIVE},
)
def mean_gradient2(num_rounds, *, L, distortion, step_size, initial_gap, memory_error2):
    """Bound on the mean squared gradient at the first T models."""
    theta = 1 - distortion
    return {
        "initial": 2 * initial_gap / (step_size * num_rounds),
        "memories": memory_error2 / (theta * num_rounds),
    }


def method(
    distortion: Any, step_size: Any, L: Any = 1, initial_gap: Any = 1, memory_error2: Any = 1, num_rounds: int = 2
) -> Problem:
    p = Problem()
    f = p.function(-L, L)
    best, w, g, squares = f.minimizer(), p.point("w"), p.point("g"), []
    p.at_most(f.value(w) - f.value(best), initial_gap, "initial_gap")
    p.at_most((g - f.gradient(w)).square, memory_error2, "memory_error2")
    for _ in range(num_rounds):
        squares.append(f.gradient(w).square)
        w = w - step_size * g
        g = g + p.compressed(f.gradient(w) - g, distortion**2)
    p.maximize(p.mean(squares))
    return p


def domain(distortion: Any, step_size: Any) -> list[Any]:
    return [distortion > 0, distortion < 1, step_size > 0, step_size < 1]
