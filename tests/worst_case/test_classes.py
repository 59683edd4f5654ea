"""Classes and steps against values in closed form, and against results of PEPit 0.5.1 with Clarabel."""

import json
from collections.abc import Callable
from fractions import Fraction as Q
from pathlib import Path

import pytest

from fedtheory.worst_case import Problem, checker
from fedtheory.worst_case.worst_cases import WorstCase


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
