"""Worst-case problem of arbitrary participation: two clients of equal weight that take turns."""

from collections.abc import Mapping
from typing import Any

from fedtheory import worst_case
from fedtheory.theorem import Bound, WorstCaseProblem


def _solve(bound: Bound, given: Mapping[str, Any]) -> Any:
    p = worst_case.Problem()
    clients = [p.function(mu=given["mu"], L=given["L"], name=name) for name in ("f0", "f1")]
    best, w = (clients[0] + clients[1]).minimizer(), p.point("start")
    p.at_most((w - best).square, given["initial_distance2"], name="initial_distance2")
    # The imbalance is tau grad f_0(w*) after the rounds of the first client, and 0 after those of the second.
    p.at_most(given["local_steps"] ** 2 * clients[0].gradient(best).square, given["imbalance2"], name="imbalance2")
    for r in range(given["num_rounds"]):
        for _ in range(given["local_steps"]):
            w = w - given["step_size"] * clients[r % 2].gradient(w)
    p.maximize((w - best).square)
    return p.solve()


_TURNS = {
    "num_rounds": lambda c: c.whole(1, 3),
    "local_steps": lambda c: c.whole(1, 2),
    "step_size": lambda c: c.share() / c["L"],
    "initial_distance2": lambda c: c.positive(),
    "imbalance2": lambda c: c.positive(),
}
TURNS = WorstCaseProblem(_solve, _TURNS)
