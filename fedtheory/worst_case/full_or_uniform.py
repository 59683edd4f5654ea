"""Federated averaging with all clients, or with clients that are sampled uniformly: its exact worst case."""

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from fedtheory import _validate
from fedtheory._validate import Array
from fedtheory.worst_case._embedding import Embedding, vertices
from fedtheory.worst_case._exchangeable import Scene, averaged_rounds, fixed_round
from fedtheory.worst_case._settings import Setting, check_block, setting
from fedtheory.worst_case._trees import Branch, independent_draws, largest_block, tree, uniform_subsets
from fedtheory.worst_case.enclosures import Enclosure, enclose
from fedtheory.worst_case.instances import Instance, Outcome
from fedtheory.worst_case.worst_cases import Proof, WorstCase, worst_of

__all__ = ["error_floor", "fedavg"]


def fedavg(
    local_steps: int,
    step_size: Any,
    *,
    mu: Any,
    L: Any,
    distance2: Any,
    objective_gap: Any,
    sampling: str = "all",
    num_selected: int | None = None,
    num_clients: int | None = None,
    num_rounds: int = 1,
    gradient_noise: Any = 0,
    objective: str = "distance",
    functions: str = "all",
    max_block: int = 50,
) -> WorstCase:
    given = setting(
        _validate.count("local_steps", local_steps) * _validate.count("num_rounds", num_rounds),
        step_size,
        mu=mu,
        L=L,
        distance2=distance2,
        objective_gap=objective_gap,
        gradient_noise=gradient_noise,
    )
    scheme = _scheme(sampling, num_selected, num_clients)
    _validate.choice("objective", objective, ("distance", "gap"))
    _validate.choice("functions", functions, ("all", "quadratic"))
    if sampling == "all" or (num_rounds == 1 and objective == "distance"):
        check_block(len(given.steps) + 2, max_block)
        scene = averaged_rounds(given, num_rounds, objective, functions, scheme.factors)
        clients = scheme.num_clients or 2
    else:
        clients = scheme.num_clients
        law = scheme.law(clients)
        check_block(largest_block(clients, local_steps, num_rounds, len(law)), max_block)
        scene = tree(given, clients, num_rounds, lambda _: law, objective=objective, functions=functions)
    found = enclose(scene.program)
    attain = partial(_instance, scene, found, given, clients, num_rounds, objective, scheme)
    return worst_of([Proof(scene.program, found)], given, objective, attain)
