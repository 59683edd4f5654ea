"""Defects of sampling probabilities in public code: off by one, clipped only once, invalid for some norms."""

import itertools
from typing import Any

import numpy as np

from fedtheory.conformance import check_probabilities

CALLS = itertools.count()


def closed_form(norms, m, one_more=0):
    """The closed form of Chen et al., eq. (7): as many small norms as can be are scaled to the rest of m."""
    order, n = np.argsort(norms), len(norms)
    sums = np.cumsum(norms[order])
    fits = [count for count in range(1, n + 1) if 0 < (m + count - n) * norms[order[count - 1]] <= sums[count - 1]]
    p = np.ones(n)
    if fits:
        count = min(max(fits) + one_more, n)
        p[order[:count]] = (m + count - n) * norms[order[:count]] / sums[count - 1]
    return np.where(norms > 0, p, 0.0)


def right(norms, m):
    return closed_form(norms, m)


def capped_only(norms, m):
    return np.minimum(1, m * norms / norms.sum())


def uniform(norms, m):
    return np.full(len(norms), m / len(norms))


def over_budget(norms, m):
    return np.minimum(1, right(norms, m) * 1.01)


def not_a_number_without_norms(norms, m):
    return right(norms, m) * norms.sum() / norms.sum()


def sorts_the_norms(norms, m):
    norms.sort()
    return right(norms, m)


def column(norms, m):
    return right(norms, m)[:, None]


def ties_in_order(norms, m):
    # Norms that are equal are told apart by their place.
    return right(norms * (1 + 1e-2 * np.arange(len(norms)) * (len(set(norms)) < len(norms))), m)


def absolute_tolerance(norms, m):
    return right(np.where(norms < 1e-8, 0.0, norms), m)


BUFFERS: dict[int, np.ndarray] = {}


def one_buffer(norms, m):
    buffer = BUFFERS.setdefault(len(norms), np.empty(len(norms)))
    buffer[:] = right(norms, m)
    return buffer


def of_two_only(norms):
    return norms / norms.sum()


def saturates_one_at_most(norms, m):
    p = m * norms / norms.sum()
    top = np.argmax(norms)
    if p[top] > 1:
        p = (m - 1) * norms / np.delete(norms, top).sum()
        p[top] = 1.0
    return np.minimum(p, 1.0)


def drops_who_is_last_with_zeros(norms, m):
    p = right(norms, m)
    p[-1] *= 0.5 if (norms == 0).any() else 1.0
    return p


def never_everybody(norms, m):
    return right(norms, min(m, len(norms) - 0.5))


def alone_for_sure(norms, m):
    return np.ones(1) if len(norms) == 1 else right(norms, m)


def the_smallest_owes(norms, m):
    p = right(norms, m)
    p[np.argmin(p)] -= 1.5 * (len(norms) > 3)
    return p


def the_first_has_less(norms, m):
    return right(norms, m) * np.where((np.arange(len(norms)) == 0) & (len(norms) > 3), 0.5, 1.0)


def the_first_has_less_every_other_time(norms, m):
    return right(norms, m) * np.where(np.arange(len(norms)) == 0, 1.0 - next(CALLS) % 2 / 2, 1.0)


CAUGHT: list[Any] = [
    (the_smallest_owes, check_probabilities, {}, "box"),
    (the_first_has_less, check_probabilities, {}, "relabeling"),
    (the_first_has_less_every_other_time, check_probabilities, {}, "same answer"),
    (capped_only, check_probabilities, {}, "unused budget"),
    (uniform, check_probabilities, {}, "optimal"),
    (over_budget, check_probabilities, {}, "budget"),
    (not_a_number_without_norms, check_probabilities, {}, "all norms zero"),
    (sorts_the_norms, check_probabilities, {}, "inputs"),
    (column, check_probabilities, {}, "shape"),
    (ties_in_order, check_probabilities, {}, "ties"),
    (absolute_tolerance, check_probabilities, {}, "scaling"),
    (one_buffer, check_probabilities, {}, "own answers"),
    (of_two_only, check_probabilities, {}, "runs"),
    (saturates_one_at_most, check_probabilities, {}, "saturated clients"),
    (drops_who_is_last_with_zeros, check_probabilities, {}, "zero norms"),
    (never_everybody, check_probabilities, {}, "full budget"),
    (alone_for_sure, check_probabilities, {}, "one client"),
]
