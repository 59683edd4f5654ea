"""Workload C of the performance study: optimal probabilities of log-normal norms, against a sort and a solver."""

from functools import partial
from typing import Any

import numpy as np
from _timing import interleaved

import fedtheory as ft
from fedtheory import study
from fedtheory.sampling.reference import solver_probabilities

# How far apart probabilities of different programs may be.
CLOSE = 1e-12
GOALS = {
    ("n = 100", "NumPy sort"): 10.0,
    ("n = 10000", "NumPy sort"): 12.0,
    ("n = 1000000", "NumPy sort"): 35.0,
    ("n = 10000", "Clarabel"): 10_000.0,
}


def records(config: Any, progress: study.Progress) -> list[dict[str, Any]]:
    """Time one call for every number of clients."""
    found = []
    for size in config.sampling_sizes:
        norms = np.exp(np.random.default_rng(config.seed).normal(size=size))
        # Many calls in a row even at the longest: the memory of one result serves for the next, as in real use, and
        # few of the calls find the caches as the other program left them.
        budget, calls = size / 10, max(32, 20_000 // size)
        error = float(np.abs(ft.sampling.optimal_probabilities(norms, budget) - numpy_sort(norms, budget)).max())
        ours, sort, memory = (
            partial(_repeat, program, norms, budget, calls)
            for program in (ft.sampling.optimal_probabilities, numpy_sort, sum_and_copy)
        )
        peers = {"NumPy sort": (sort, calls)}
        if size == max(config.sampling_sizes):
            peers["NumPy sum and copy"] = (memory, calls)
        label = f"n = {size}"
        repetitions = progress(range(config.sampling_repetitions), f"sampling, {label}")
        rows = interleaved(label, ours, calls, peers, repetitions)
        found += [row | {"agreement": error / CLOSE} for row in rows]
        if size == config.solved_size:
            solve = partial(solver_probabilities, norms, budget, "CLARABEL")
            # Warm: the first call imports the solver, which takes longer than it solves.
            solve()
            found += interleaved(label, ours, calls, {"Clarabel": (solve, 1)}, range(3))
            found[-1]["agreement"] = 0.0
    return found


def _repeat(program: Any, norms: Any, budget: float, num_calls: int) -> None:
    for _ in range(num_calls):
        program(norms, budget)


def numpy_sort(norms: Any, budget: float) -> Any:
    """Evaluate the closed form as the paper states it: sort, then find the last client that stays below 1."""
    ordered = np.sort(norms)
    sums = np.cumsum(ordered)
    room = budget - norms.size + np.arange(1, norms.size + 1)
    last = np.flatnonzero((room > 0) & (room * ordered <= sums))[-1]
    return np.minimum(1.0, room[last] * norms / sums[last])


def sum_and_copy(norms: Any, _: float) -> Any:
    """Read the norms for a threshold, then read them again and write as many numbers: the least that memory allows."""
    return norms.sum(), norms.copy()
