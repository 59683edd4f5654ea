"""Worst-case problems of the bounds on Scaffnew, for all clients with any weights."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from fedtheory import worst_case
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


def _solve_stochastic(bound: Bound, given: Mapping[str, Any]) -> Any:
    """Solve for one step of one client, whose gradients and memory have the largest mean squares."""
    p, gamma, chance = worst_case.Problem(), given["step_size"], given["probability"]
    f, one = p.function(given["mu"], given["growth"]), p.number()
    best, w, error = f.minimizer(), p.point("w"), p.point("error")
    p.equal_to(one, 1)
    p.at_most((w - best).square, given["initial_distance2"], "initial_distance2")
    p.at_most(error.square, given["control_error2"], "control_error2")
    gap, old = f.value(w) - f.value(best), given.get("initial_memory_error", 0)
    square = 2 * given["growth"] * gap + (given.get("memory_share", 0) * old + given["noise_floor"]) * one
    moved = (w - best).square - 2 * gamma * (f.gradient(w) @ (w - best)) + gamma**2 * square
    left = moved + (1 - chance**2) * (gamma / chance) ** 2 * error.square
    if "memory_weight" in given:
        new = 2 * given["memory_growth"] * gap + (given["memory_rate"] * old + given["memory_floor"]) * one
        left = left + gamma**2 * given["memory_weight"] * new
    p.maximize(left)
    return p.solve()


# A large error of the memory is the only one that counts.
_MEMORY = {"num_steps": 1, "initial_memory_error": lambda c: c.pick(1, 10**6) * c.positive()}
STOCHASTIC = WorstCaseProblem(_solve_stochastic, _MEMORY, num_draws=20)
