"""Worst-case problems of the bounds with bounded heterogeneity at the minimizer."""

from collections.abc import Mapping
from typing import Any

from fedtheory import worst_case
from fedtheory.theorem import Bound, WorstCaseProblem


def _solve(bound: Bound, given: Mapping[str, Any]) -> Any:
    how = "independent" if bound.__name__ == "drawn_step" else "distinct"
    return worst_case.heterogeneous_round(**{"local_steps": 1, "sampling": how, **given})


def _solve_any_sampling(bound: Bound, given: Mapping[str, Any]) -> Any:
    known = {"zeta2" if name == "sampling_variance" else name: value for name, value in given.items()}
    return worst_case.heterogeneous_round(1, num_selected=1, sampling="independent", **known)


_STEP = {
    "zeta2": lambda c: c.positive(),
    "sampling_variance": lambda c: c.positive(),
    "step_size": lambda c: 3 * c.share() / c["L"],
    "num_selected": lambda c: c.whole(1, 3),
}
_SUBSET = _STEP | {"num_clients": lambda c: c.whole(2, 9), "num_selected": lambda c: c.whole(1, c["num_clients"])}
_ROUND = _STEP | {"step_size": lambda c: c.share() / c["L"], "local_steps": lambda c: c.whole(1, 3)}
DRAWN_STEP = WorstCaseProblem(_solve, _STEP)
SUBSET_STEP = WorstCaseProblem(_solve, _SUBSET)
ROUND = WorstCaseProblem(_solve, _ROUND)
ANY_SAMPLING = WorstCaseProblem(_solve_any_sampling, _STEP)
