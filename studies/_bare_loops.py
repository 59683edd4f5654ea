"""Bare loops: minimal times of workload A of the performance study, and of rand among a million clients.

The loops have no rules, slots, recordings or choice of clients. ``python studies/_bare_loops.py`` prints nanoseconds
of processor time per round, a lower limit for simulators that draw with NumPy's generators. A round of rand reads ten
places of the alias table, ten rows of two cache lines, and ten counts.
"""

# mypy: allow-untyped-decorators, allow-untyped-calls
import sys
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from numba import njit

from fedtheory._support.views import prefetch
from fedtheory.selection._draw import alias_table, client_at

# Clients, candidates, selected, and the draws that candidates without replacement take on average, counted.
WORKLOADS = ((30, 9, 3, 10.65), (100, 30, 10, 36.15))
_DIM = 5


@njit(nogil=True)
def _draw(rng: np.random.Generator, num_rounds: int) -> float:
    total = 0.0
    for _ in range(num_rounds):
        for _ in range(100):
            total += rng.random()
    return total


@njit(nogil=True)
def _evaluate_and_step(rows: Any, model: Any, d: int, m: int, num_rounds: int) -> float:
    for _ in range(num_rounds):
        worst = 0.0
        for k in range(d):
            square = 0.0
            for i in range(model.size):
                square += (model[i] - rows[k, i + 2]) ** 2
            worst += 0.5 * rows[k, 0] * square + rows[k, 1]
        for i in range(model.size):
            change = 0.0
            for k in range(m):
                share = 1e-5 * rows[k, 0]
                share += 1e-5 * rows[k, 0] * (1.0 - share)
                change += share * (rows[k, i + 2] - model[i])
            model[i] += change / m + 1e-300 * worst  # prevents the compiler from removing unused results
    return float(model[0])


@njit(nogil=True)
def _rank(losses: Any, m: int, num_rounds: int) -> int:
    total = 0
    for t in range(num_rounds):
        losses[t % losses.size] += 1.0
        for j in range(losses.size):
            above = 0
            for i in range(losses.size):
                above += losses[i] > losses[j]
            total += above < m
    return total


def bare_rounds(num_clients: int, num_rounds: int) -> None:
    """Draw, evaluate, step and rank as often as workload A does in the given number of rounds."""
    _, d, m, draws = next(row for row in WORKLOADS if row[0] == num_clients)
    rng = np.random.default_rng(0)
    _draw(rng, round(draws * num_rounds / 100))
    _evaluate_and_step(rng.normal(3.0, 1.0, (num_clients, _DIM + 2)), np.zeros(_DIM), d, m, num_rounds)
    _rank(rng.normal(size=d), m, num_rounds)


def floors(num_rounds: int = 100_000) -> list[dict[str, float]]:
    """Nanoseconds of a round for each part, a row for each workload; the smallest of nine."""
    rng, rows = np.random.default_rng(0), []
    each = _nanoseconds(_draw, rng, num_rounds // 10) / 100
    for num_clients, d, m, draws in WORKLOADS:
        clients = rng.normal(3.0, 1.0, (num_clients, _DIM + 2))
        parts = {
            "draws": draws * each,
            "losses and steps": _nanoseconds(_evaluate_and_step, clients, np.zeros(_DIM), d, m, num_rounds),
            "ranking": _nanoseconds(_rank, rng.normal(size=d), m, num_rounds),
        }
        rows.append({"num_clients": num_clients, **parts, "together": sum(parts.values())})
    return rows


@njit(nogil=True)
def _ask_for_columns(alias: Any, uniforms: Any) -> None:
    for j in range(uniforms.size):
        prefetch(alias, np.int64(uniforms[j] * (alias.size // 2)) * 2, 0)


@njit(nogil=True)
def _ask_for_clients(rows: Any, counts: Any, chosen: Any) -> None:
    for k in chosen:
        prefetch(rows, k, 0)
        prefetch(rows, k, rows.shape[1] - 1)
        prefetch(counts, k, 0)


@njit(nogil=True)
def _train(rows: Any, counts: Any, chosen: Any, model: Any) -> None:
    updates = np.zeros(model.size)
    for client in chosen:
        k, share = np.uint64(client), 1e-5 * rows[client, 0]
        share += 1e-5 * rows[k, 0] * (1.0 - share)
        for i in range(model.size):
            updates[i] += share * (rows[k, i + 2] - model[i])
        counts[k] += 1
    for i in range(model.size):
        model[i] += updates[i] / chosen.size


@njit(nogil=True)
def _rand(alias: Any, rows: Any, counts: Any, rng: Any, lead: int, num_rounds: int) -> float:
    """Draw some rounds before the clients are looked up, and look them up some rounds before they are trained."""
    uniforms, chosen = np.zeros((lead + 1, 10)), np.zeros((lead + 1, 10), np.int64)
    model = np.zeros(rows.shape[1] - 2)
    for t in range(num_rounds + 2 * lead):
        drawn, named = uniforms[t % (lead + 1)], uniforms[(t - lead) % (lead + 1)]
        for j in range(drawn.size):
            drawn[j] = rng.random()
        _ask_for_columns(alias, drawn)
        clients = chosen[(t - lead) % (lead + 1)]
        for j in range(named.size):
            clients[j] = client_at(alias, named[j])
        _ask_for_clients(rows, counts, clients)
        _train(rows, counts, chosen[(t - 2 * lead) % (lead + 1)], model)
    return float(model[0])


def floors_of_many(num_rounds: int = 100_000) -> list[dict[str, float]]:
    """Nanoseconds of a round of rand, a row for each number of clients; with a lead, memory is prefetched."""
    rng, rows = np.random.default_rng(0), []
    for num_clients in (1_000, 1_000_000):
        clients, counts = rng.normal(3.0, 1.0, (num_clients, 12)), np.zeros(num_clients, np.int64)
        arrays = alias_table(rng.uniform(1.0, 2.0, num_clients)), clients, counts, rng
        leads = {f"lead of {lead}": _nanoseconds(_rand, *arrays, lead, num_rounds) for lead in (0, 1)}
        rows.append({"num_clients": num_clients, **leads})
    return rows


def _nanoseconds(program: Callable[..., Any], *arguments: Any) -> float:
    program(*arguments[:-1], 10)
    seconds = []
    for _ in range(9):
        start = process_time()
        program(*arguments)
        seconds.append(process_time() - start)
    return 1e9 * min(seconds) / float(arguments[-1])


if __name__ == "__main__":
    for row in floors() + floors_of_many():
        sys.stdout.write(", ".join(f"{name} {value:.0f}" for name, value in row.items()) + "\n")
