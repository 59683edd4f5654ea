"""Values of a round's clients, compiled: all coalitions, or truncated random orders (GTG-Shapley).

The utility of a coalition is minus the validation loss of the weighted mean of its members' models. The utility of the
empty coalition is minus the loss of the model before the round. Each coalition is evaluated when it is first needed.
The estimator uses the same random draws and stopping rule as ``gtg_shapley``.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from fedtheory._support.jit import jitable
from fedtheory.valuation.permutations import CLOSE, FEWEST, MOST_PER_PLAYER, WINDOW

__all__ = ["EXACT", "METHODS", "TOLERANCE", "TRUNCATED", "value_cohort"]

EXACT, TRUNCATED = 0, 1
METHODS = {"exact": EXACT, "gtg": TRUNCATED}
TOLERANCE = 1e-4


@jitable
def value_cohort(excess, problem, start, updates, shares, method, tolerance, rng, known, model, values):
    """Write the values of ``updates`` (n, v) with weights ``shares`` (n,); return the number of losses evaluated.

    ``excess`` is the kernel for the loss of a model. ``known`` (at least 2^n,) and ``model`` (v,) are scratch. All
    values are NaN if a loss is not finite.
    """
    n = shares.size
    for number in range(1 << n):
        known[number] = np.inf
    if method == EXACT:
        for number in range(1 << n):
            _utility(excess, problem, start, updates, shares, known, model, number)
        _from_all(known, values, n)
    else:
        gains = np.zeros((MOST_PER_PLAYER * n, n))
        seen = _walk(excess, problem, start, updates, shares, tolerance, rng, known, model, gains)
        for k in range(n):
            values[k] = _sum(gains, k, seen) / seen if seen > 0 else 0.0
    asked, finite = 0, True
    for number in range(1 << n):
        asked += known[number] != np.inf
        finite &= not np.isnan(known[number])
    for k in range(n if not finite else 0):
        values[k] = np.nan
    return asked


@jitable
def _sum(rows, column, size):
    total = 0.0
    for i in range(size):
        total += rows[i, column]
    return total


@jitable
def _walk(excess, problem, start, updates, shares, tolerance, rng, known, model, gains):
    """Write the marginal contributions along random orders, one row per order; return the number of orders."""
    most, n = gains.shape
    grand = _utility(excess, problem, start, updates, shares, known, model, (1 << n) - 1)
    empty = _utility(excess, problem, start, updates, shares, known, model, 0)
    if abs(grand - empty) < tolerance:
        return 0
    for seen in range(most):
        before, arrived = empty, 0
        for player in _order(n, seen % n, rng):
            if abs(grand - before) < tolerance:
                break
            arrived |= 1 << player
            after = _utility(excess, problem, start, updates, shares, known, model, arrived)
            gains[seen, player] = after - before
            before = after
        if (seen + 1) % n == 0 and _converged(gains, seen + 1):
            return seen + 1
    return most


@jitable
def _utility(excess, problem, start, updates, shares, known, model, number):
    """Minus the loss of a coalition's model up to a constant, evaluated once; ``known`` is infinite before that."""
    if known[number] == np.inf:
        _write_mean(start, updates, shares, number, model)
        loss = excess(problem, model)
        known[number] = -loss if np.isfinite(loss) else np.nan
    return known[number]


@jitable
def _write_mean(start, updates, shares, number, model):
    """Write the mean of the models of a coalition's members."""
    total = 0.0
    for k in range(shares.size):
        total += shares[k] if number >> k & 1 else 0.0
    for j in range(model.size):
        model[j] = start[j]
    for k in range(shares.size):
        if number >> k & 1 and shares[k] > 0.0:
            for j in range(model.size):
                model[j] += shares[k] / total * updates[k, j]


@jitable
def _from_all(known, values, n):
    """Shapley values from the utilities of all coalitions, indexed by their bits."""
    weight = np.empty(n)
    weight[0] = 1.0 / n
    for size in range(1, n):  # 1 / (n binom(n - 1, size))
        weight[size] = weight[size - 1] * size / (n - size)
    for k in range(n):
        values[k] = 0.0
        for number in range(1 << n):
            if not number >> k & 1:
                size = 0
                for other in range(n):
                    size += number >> other & 1
                values[k] += weight[size] * (known[number | 1 << k] - known[number])


@jitable
def _order(n, first, rng):
    """Draw a random order of the players with the given first one."""
    order = np.empty(n, dtype=np.int64)
    order[0] = first
    rest = rng.permutation(n - 1)
    for place in range(n - 1):
        order[place + 1] = rest[place] + (rest[place] >= first)
    return order


@jitable
def _converged(added, count):
    """Whether, after twenty orders, the last ten running means differ from the latest by at most 1% on average."""
    if count < FEWEST:
        return False
    for k in range(added.shape[1]):
        latest = _sum(added, k, count) / count
        running, apart = _sum(added, k, count - WINDOW), 0.0
        for place in range(count - WINDOW, count):
            running += added[place, k]
            apart += abs(running / (place + 1) - latest)
        if not apart / WINDOW <= CLOSE * abs(latest):
            return False
    return True
