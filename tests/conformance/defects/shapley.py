"""Defects of Shapley values in public code: omitted sizes, other shares, early stopping."""

from itertools import combinations
from math import comb

import numpy as np

from fedtheory.conformance import check_shapley

EXACT: dict[str, object] = {}
ESTIMATE = {"exact": False}


def weighted(utility, n, share, sizes):
    """Sum over the coalitions of some sizes without a player, each with its share."""
    values = []
    for k in range(n):
        others = [j for j in range(n) if j != k]
        gains = (
            share(size) * (utility((*chosen, k)) - utility(chosen))
            for size in sizes
            for chosen in combinations(others, size)
        )
        values.append(sum(gains))
    return values


def right(utility, n):
    return weighted(utility, n, lambda size: 1 / (n * comb(n - 1, size)), range(n))


def never_all_others(utility, n):
    return weighted(utility, n, lambda size: 1 / (n * comb(n - 1, size)), range(max(n - 1, 1)))


def scaled_to_be_efficient(utility, n):
    values = np.array(weighted(utility, n, lambda _: 1 / 2 ** (n - 1), range(n)))
    earned = utility(range(n)) - utility([])
    return values + (earned - values.sum()) / n


def positive_only(utility, n):
    return [max(value, 0.0) for value in right(utility, n)]


def players_from_one(utility, n):
    return right(lambda players: utility([k + 1 for k in players]), n)


def mean_of(utility, n, orders):
    values = np.zeros(n)
    for order in orders:
        for place, k in enumerate(order):
            values[k] += utility(order[: place + 1]) - utility(order[:place])
    return values / len(orders)


def converges_at_a_negative_value(utility, n, rng):
    total, count, change = np.zeros(n), 0, np.inf
    while count < 20 and not (count > 1 and change < 1e-3):
        order = rng.permutation(n).tolist()
        before = total / max(count, 1)
        total += mean_of(utility, n, [order])
        count += 1
        mean = total / count
        change = np.abs(mean - before).max() / mean.sum() if mean.sum() else 0.0
    return total / count


def uniform_subsets(utility, n, rng):
    values = np.zeros(n)
    for k in range(n):
        others = [j for j in range(n) if j != k and rng.random() < 0.5]
        values[k] = utility([*others, k]) - utility(others)
    return values


def starts_from_zero(utility, n, rng):
    return mean_of(lambda players: utility(players) if len(players) else 0.0, n, [rng.permutation(n).tolist()])


def global_orders(utility, n, rng):
    return mean_of(utility, n, [np.random.permutation(n).tolist()])  # noqa: NPY002 (the defect)


def one_value_too_many(utility, n):
    return [*right(utility, n), 0.0]


def alone_is_worth_nothing(utility, n):
    return right(utility, n) if n > 1 else [0.0]


def equal_shares(utility, n):
    return [(utility(range(n)) - utility([])) / n] * n


def own_generator(utility, n, rng):
    return mean_of(utility, n, [np.random.default_rng().permutation(n).tolist()])


def the_first_takes_from_the_last(utility, n):
    return right(utility, n) + (n > 3) * (np.eye(n)[0] - np.eye(n)[-1])


def the_first_gets_a_lot_or_owes_it(utility, n, rng):
    return mean_of(utility, n, [rng.permutation(n).tolist()]) + 1000 * rng.choice([-1, 1]) * np.eye(n)[0]


CAUGHT = [
    (the_first_takes_from_the_last, check_shapley, EXACT, "symmetry"),
    (the_first_takes_from_the_last, check_shapley, EXACT, "linearity"),
    (the_first_takes_from_the_last, check_shapley, EXACT, "values"),
    (the_first_gets_a_lot_or_owes_it, check_shapley, ESTIMATE, "unbiased"),
    (never_all_others, check_shapley, EXACT, "efficiency"),
    (scaled_to_be_efficient, check_shapley, EXACT, "null player"),
    (positive_only, check_shapley, EXACT, "linearity"),
    (players_from_one, check_shapley, EXACT, "runs"),
    (converges_at_a_negative_value, check_shapley, ESTIMATE, "negation"),
    (uniform_subsets, check_shapley, ESTIMATE, "unbiased"),
    (starts_from_zero, check_shapley, ESTIMATE, "offset"),
    (global_orders, check_shapley, ESTIMATE, "other randomness"),
    (one_value_too_many, check_shapley, EXACT, "shape"),
    (alone_is_worth_nothing, check_shapley, EXACT, "one player"),
    (equal_shares, check_shapley, EXACT, "values"),
    (own_generator, check_shapley, ESTIMATE, "same generator"),
]
