"""Worst-case problems of the bounds on Scaffnew, for all clients with any weights."""

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from fedtheory.bounds.scaffold._worst_cases import controlled_start
from fedtheory.theorem.bound import Bound
from fedtheory.theorem.draws import curvatures, pick, step_size, tenths, whole
from fedtheory.theorem.worst_case_problem import WorstCaseProblem

__all__: list[str] = []


def _solve(bound: Bound, given: Mapping[str, Any]) -> Any:
    p, clients, w, error = controlled_start(given)
    gamma, chance = Fraction(given["step_size"]), Fraction(given["probability"])

    def expected(x: Any, error: Any, num_steps: int) -> Any:
        """Return the expected potential after some more steps of clients at x."""
        if not num_steps:
            return x.square + (gamma / chance) ** 2 * error.square
        moved = x - gamma * (clients.gradient(x) - error)
        mean = clients.mean(moved)
        averaged = expected(mean, error - chance / gamma * (moved - mean), num_steps - 1)
        return chance * averaged + (1 - chance) * expected(moved, error, num_steps - 1)

    p.maximize(expected(w, error, given["num_steps"]))
    return p.solve()


def _draw(longest: int, rng: np.random.Generator) -> dict[str, Any]:
    known = curvatures(rng)
    return known | {
        "step_size": step_size(rng, longest / known["L"]),
        "probability": Fraction(whole(rng, 1, 8), 8),
        "num_steps": whole(rng, 1, 2),
        "initial_distance2": tenths(rng, 1, 90),
        "control_error2": pick(rng, [Fraction(0), tenths(rng, 1, 90)]),
    }


THEOREM = WorstCaseProblem(_solve, partial(_draw, 1), looseness=1.05, num_draws=20)
REFINED = WorstCaseProblem(_solve, partial(_draw, 3), num_draws=20)
