"""Estimates of Shapley values from random orders: what is unbiased, what truncation costs, what is printed."""

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.claims.greedyfed._games import GREEDYFED, draw_table
from fedtheory.rational.draws import whole
from fedtheory.statistics.law import Law
from fedtheory.theorem.paper import Statement
from fedtheory.valuation.exact import shapley
from fedtheory.valuation.gtg import gtg_shapley
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to, worst_of

_ALGORITHM_2 = "Algorithm 2"
_READ = Statement(GREEDYFED, _ALGORITHM_2, form="corrected")
_PRINTED = Statement(GREEDYFED, _ALGORITHM_2)


def gains(table: Sequence[Fraction], order: Sequence[int], tolerance: Fraction = Fraction(0)) -> dict[int, Fraction]:
    """Return what each player adds in an order, 0 once the utility is less than a tolerance from everybody's."""
    added, arrived = dict.fromkeys(order, Fraction(0)), 0
    for player in order:
        if abs(table[-1] - table[arrived]) < tolerance:
            break
        added[player] = table[arrived | 1 << player] - table[arrived]
        arrived |= 1 << player
    return added


def mean_gain(
    table: Sequence[Fraction], player: int, first: int, num_players: int, tolerance: Fraction = Fraction(0)
) -> Any:
    """Return what a player adds on average over the orders that another one begins."""
    orders = Law.uniform(orders_from(first, num_players))
    return orders.mean(lambda order: gains(table, order, tolerance)[player])


def orders_from(first: int, num_players: int) -> Iterator[tuple[int, ...]]:
    """Yield all orders that a player begins."""
    others = [player for player in range(num_players) if player != first]
    return ((first, *rest) for rest in itertools.permutations(others))


def _words(table: Sequence[Fraction]) -> dict[str, Any]:
    return {"utilities in bit order": str([str(value) for value in table])}


@claim(
    "greedyfed:unbiased-sweeps",
    "the mean gain over sweeps, in which each client is first once, is the Shapley value",
    _READ,
    "identity",
    hypotheses=("no truncation", "the orders of the others are uniform"),
    instances=(10, 60),
)
def unbiased_sweeps(rng: np.random.Generator) -> Finding:
    n = whole(rng, 1, 6)
    table = draw_table(rng, n)
    exact = shapley(table, n)
    return worst_of(
        equal_to(sum(mean_gain(table, k, first, n) for first in range(n)) / n, exact[k], instance=_words(table))
        for k in range(n)
    )


@claim(
    "greedyfed:first-position-variance",
    "a sweep has at most the variance of as many uniform orders, for each client",
    Statement(GREEDYFED, _ALGORITHM_2, form="derived"),
    hypotheses=("no truncation",),
    instances=(20, 60),
    looseness=1.01,
    remark="Who is first is a stratum of probability 1/M, and each stratum gets its share of the orders.",
)
def first_position_variance(rng: np.random.Generator) -> Finding:
    n = whole(rng, 2, 4)
    table = draw_table(rng, n)
    findings = []
    for k in range(n):
        strata = [[gains(table, order)[k] for order in orders_from(first, n)] for first in range(n)]
        pooled = [value for stratum in strata for value in stratum]
        swept = sum((_variance(stratum) for stratum in strata), start=Fraction(0)) / n**2
        findings.append(at_most(swept, _variance(pooled) / n, instance={**_words(table), "client": k}))
    return worst_of(findings)


def _variance(values: Sequence[Fraction]) -> Fraction:
    mean = sum(values, start=Fraction(0)) / len(values)
    return sum(((value - mean) ** 2 for value in values), start=Fraction(0)) / len(values)


@claim(
    "greedyfed:truncated-sum",
    "values of GTG-Shapley add up to U(S) - U(nobody) within the tolerance",
    _READ,
    looseness=1.05,
)
def truncated_sum(rng: np.random.Generator) -> Finding:
    n, tolerance = whole(rng, 1, 4), 2.0 ** -whole(rng, -2, 4)
    table = [float(value) for value in draw_table(rng, n)]
    found = gtg_shapley(lambda players: table[sum(1 << k for k in players)], n, tolerance, rng=whole(rng, 0, 999))
    off = abs(found.values.sum() - (table[-1] - table[0]))
    return at_most(float(off), tolerance, instance={"table": table, "tolerance": tolerance})


@claim(
    "greedyfed:truncated-values",
    "each value of GTG-Shapley is within the tolerance",
    Statement(GREEDYFED, _ALGORITHM_2, form="derived"),
    "refuted conjecture",
    instances=(1, 1),
    remark="Where one client stands the round is worth as much as with all; the other two cancel, and are cut off.",
)
def truncated_values(_: np.random.Generator) -> Finding:
    worth, tolerance = (1, 1, -1), Fraction(1, 100)
    table = [sum((Fraction(worth[k]) for k in range(3) if number >> k & 1), Fraction(0)) for number in range(8)]
    exact = shapley(table, 3)
    return worst_of(
        at_most(
            abs(sum(mean_gain(table, k, first, 3, tolerance) for first in range(3)) / 3 - exact[k]),
            tolerance,
            instance={**_words(table), "client": k},
        )
        for k in range(3)
    )


@claim(
    "greedyfed:printed-counter",
    "the printed average (tau - 1)/tau SV + gain/tau, tau shared by the orders of a sweep, estimates the Shapley value",
    _PRINTED,
    "erratum",
    hypotheses=("it begins with tau = 1, since for tau = 0 it divides by 0",),
    instances=(1, 1),
    remark="At tau = 1 each order replaces the one before: what is left is the last, which the last client begins.",
)
def printed_counter(_: np.random.Generator) -> Finding:
    # Gloves: client 0 owns a left one, 1 and 2 right ones; a pair is worth 1.
    table = [Fraction(int(number & 1 and number > 1)) for number in range(8)]
    return worst_of(
        equal_to(mean_gain(table, k, 2, 3), value, instance={**_words(table), "client": k})
        for k, value in enumerate(shapley(table, 3))
    )
