"""Worst-case problems of the bounds with bounded heterogeneity at the minimizer."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from fedtheory import worst_case
from fedtheory.theorem.bound import Bound
from fedtheory.theorem.draws import curvatures, step_size, tenths, whole
from fedtheory.theorem.worst_case_problem import WorstCaseProblem

__all__: list[str] = []


def _solve(bound: Bound, given: Mapping[str, Any]) -> Any:
    how = "independent" if bound.__name__ == "drawn_step" else "distinct"
    return worst_case.heterogeneous_round(**{"local_steps": 1, "sampling": how, **given})


def _solve_any_sampling(bound: Bound, given: Mapping[str, Any]) -> Any:
    known = {"zeta2" if name == "sampling_variance" else name: value for name, value in given.items()}
    return worst_case.heterogeneous_round(1, num_selected=1, sampling="independent", **known)


def _draw_any_sampling(rng: np.random.Generator) -> dict[str, Any]:
    known = _draw(rng)
    return known | {"sampling_variance": known.pop("zeta2")}


def _draw(rng: np.random.Generator, longest: int = 3) -> dict[str, Any]:
    known = curvatures(rng) | {"distance2": tenths(rng, 1, 90), "zeta2": tenths(rng, 1, 90)}
    return known | {"step_size": step_size(rng, longest / known["L"])}


def _draw_drawn_step(rng: np.random.Generator) -> dict[str, Any]:
    return _draw(rng) | {"num_selected": whole(rng, 1, 3)}


def _draw_subset_step(rng: np.random.Generator) -> dict[str, Any]:
    num_clients = whole(rng, 2, 9)
    return _draw(rng) | {"num_clients": num_clients, "num_selected": whole(rng, 1, num_clients)}


def _draw_round(rng: np.random.Generator) -> dict[str, Any]:
    return _draw(rng, 1) | {"local_steps": whole(rng, 1, 3)}


DRAWN_STEP = WorstCaseProblem(_solve, _draw_drawn_step)
SUBSET_STEP = WorstCaseProblem(_solve, _draw_subset_step)
ROUND = WorstCaseProblem(_solve, _draw_round)
ANY_SAMPLING = WorstCaseProblem(_solve_any_sampling, _draw_any_sampling)
