"""Worst-case problems of the bounds on Scaffnew, for all clients with any weights."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from fedtheory.bounds.scaffold._worst_cases import controlled_start
from fedtheory.theorem import Bound, WorstCaseProblem


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


_THEOREM = {
    "step_size": lambda c: c.share() / c["L"],
    "probability": lambda c: Fraction(c.whole(1, 8), 8),
    "num_steps": lambda c: c.whole(1, 2),
    "control_error2": lambda c: c.pick(0, c.positive()),
}
THEOREM = WorstCaseProblem(_solve, _THEOREM, num_draws=20)
REFINED = WorstCaseProblem(_solve, _THEOREM | {"step_size": lambda c: 3 * c.share() / c["L"]}, num_draws=20)
