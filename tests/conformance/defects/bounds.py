"""Defective bounds: too small, infinite, or not numbers."""

import itertools
import math

from fedtheory.bounds import fedalign
from fedtheory.conformance import check_bound

LEMMA_B1 = {"claim": "power-of-choice:lemma-b1"}
CALLS = itertools.count()


def constant_halved(excess, L):
    return L * excess


def slightly_too_small(excess, L):
    return 1.99 * L * excess


def infinite(excess, L):
    return math.inf


def not_a_number(excess, L):
    return math.nan


def other_names(gap, smoothness):
    return 2 * smoothness * gap


def changes_its_mind(excess, L):
    return 2 * L * excess + next(CALLS) % 2


def text(excess, L):
    return f"{2 * L * excess}" if excess > 5 else 2 * L * excess


def sorts_its_gaps(num_steps, **constants):
    value = fedalign.recursion_gap(num_steps, **constants)
    constants["included_gaps"].sort(reverse=True)
    return value


CAUGHT = [
    (constant_halved, check_bound, LEMMA_B1, "holds"),
    (slightly_too_small, check_bound, LEMMA_B1, "holds"),
    (infinite, check_bound, LEMMA_B1, "decides"),
    (not_a_number, check_bound, LEMMA_B1, "number"),
    (other_names, check_bound, LEMMA_B1, "runs"),
    (changes_its_mind, check_bound, LEMMA_B1, "same answer"),
    (text, check_bound, LEMMA_B1, "number"),
    (sorts_its_gaps, check_bound, {"claim": "fedalign:theorem-1-recursion"}, "inputs"),
    (constant_halved, check_bound, LEMMA_B1, "survives a hunt"),
]
