"""Classes and steps against values in closed form, and against results of PEPit 0.5.1 with Clarabel."""

import json
from collections.abc import Callable
from fractions import Fraction as Q
from pathlib import Path
from typing import Any

import pytest

from fedtheory.worst_case import Problem, checker
from fedtheory.worst_case.worst_cases import WorstCase


def begun(p: Problem, f: Any) -> tuple[Any, Any]:
    best, x = f.minimizer(), p.point("start")
    p.at_most((x - best).square, 1, name="distance2")
    return best, x


def epsilon_subgradients_of_a_smooth_function() -> Problem:
    p = Problem()
    f = p.function(L=1)
    best, x = begun(p, f)
    for _ in range(2):
        x = x - Q(1, 2) * f.epsilon_subgradient(x, Q(1, 10))
    p.maximize((x - best).square)
    return p


def symmetric() -> Problem:
    """A polynomial of eigenvalues in [-1, 2]: ``(1 - t/3)(1 - t/2) - 1/4`` is 7/4 at -1."""
    p = Problem()
    M, x = p.linear(2, least=-1), p.point("start")
    p.at_most(x.square, 1)
    y = x - Q(1, 2) * M(x)
    p.maximize((y - Q(1, 3) * M(y) - Q(1, 4) * x).square)
    return p


def skew() -> Problem:
    """Two midpoint steps of 1/2: with an eigenvalue ``2 i`` of M the factor of one is ``-i``, of both -1."""
    p = Problem()
    M, x = p.linear(2, skew=True), p.point("start")
    start = x
    p.at_most(x.square, 1)
    for _ in range(2):
        x = x - Q(1, 2) * M(x - Q(1, 2) * M(x))
    p.maximize((x - start).square)
    return p


def support_function() -> Problem:
    p = Problem()
    f, g = p.support(lipschitz=1), p.function(mu=Q(1, 10), L=1)
    best, x = begun(p, f + g)
    p.at_most(best.square, 1)
    for _ in range(2):
        x = f.proximal(x - g.gradient(x), 1)
    p.maximize((f + g).value(x) - (f + g).value(best))
    return p


def support_function_alone() -> Problem:
    """Moreau's envelope of a norm: the value falls by 1 where the distance is 1 or more."""
    p = Problem()
    f, x = p.support(lipschitz=1), p.point("start")
    p.at_most(x.square, 4)
    p.maximize(f.value(x) - f.value(f.proximal(x, 1)))
    return p


def line_search() -> Problem:
    p = Problem()
    f = p.function(mu=Q(1, 10), L=1)
    best, x = f.minimizer(), p.point("start")
    p.at_most(f.value(x) - f.value(best), 1)
    for _ in range(2):
        x = f.line_search(x, f.gradient(x))
    p.maximize(f.value(x) - f.value(best))
    return p


# PEPit's float, the exact value where there is one, and whether both sides are proved.
KNOWN: dict[Callable[[], Problem], tuple[float, float | None, bool]] = {
    epsilon_subgradients_of_a_smooth_function: (1.19563162, None, True),
    symmetric: (3.06250000, 49 / 16, True),
    skew: (3.99999982, 4.0, True),
    support_function: (0.09539111, None, True),
    support_function_alone: (1.0, 1.0, True),
    line_search: (0.44812510, (0.9 / 1.1) ** 4, False),
}
SOLVED: dict[Callable[[], Problem], WorstCase] = {}


def solved(problem: Callable[[], Problem]) -> WorstCase:
    return SOLVED.setdefault(problem, problem().solve())


@pytest.mark.slow
@pytest.mark.parametrize("problem", KNOWN, ids=lambda one: one.__name__)
def test_a_class_has_the_value_that_is_known(problem: Callable[[], Problem]) -> None:
    pepit, exact, is_two_sided = KNOWN[problem]
    worst = solved(problem)
    assert (worst.lower is not None) == is_two_sided
    assert worst.upper == pytest.approx(pepit, rel=1e-6)
    for one in (pepit, exact):
        assert one is None or worst.lower is None or worst.lower == pytest.approx(one, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("problem", KNOWN, ids=lambda one: one.__name__)
def test_the_checker_builds_the_same_program_of_a_class(problem: Callable[[], Problem], tmp_path: Path) -> None:
    worst = solved(problem)
    worst.save(tmp_path / "certificate.json")
    lower, upper, _ = checker.check(json.loads((tmp_path / "certificate.json").read_text(encoding="utf-8")))
    assert (lower, upper) == (worst.lower, worst.upper)
