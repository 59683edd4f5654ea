"""A problem without an anchor has an infinite value, which a ray of points proves."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction as Q
from typing import Any

import pytest

from fedtheory.errors import AssumptionViolated, OracleError
from fedtheory.worst_case import Problem
from fedtheory.worst_case._rays import verify_ray
from fedtheory.worst_case._record import Constraint
from fedtheory.worst_case.proofs import Proof, with_ray


def value_alone() -> Problem:
    p = Problem()
    f, x = p.function(L=1), p.point("x")
    p.at_most(f.gradient(x).square, 1)
    p.maximize(f.value(x))
    return p


def smooth(num_steps: int = 0, **kind: Any) -> Problem:
    """Steps along a function from a point where the gradient is at most 1, wherever that is."""
    p = Problem()
    f, x = p.function(**{"L": 1, **kind}), p.point("x")
    best = f.minimizer()
    p.at_most(f.gradient(x).square, 1)
    for _ in range(num_steps):
        x = x - f.gradient(x)
    p.maximize(f.value(x) - f.value(best))
    return p


def clients() -> Problem:
    p = Problem()
    c, x = p.clients(5, L=1), p.point("x")
    best = c.minimizer()
    p.at_most(c.gradient(x).square, 1)
    p.maximize(c.value(x) - c.value(best))
    return p


def composite() -> Problem:
    p = Problem()
    f, h, x = p.function(L=1), p.function(), p.point("x")
    best = (f + h).minimizer()
    p.at_most(f.gradient(x).square, 1)
    y = h.proximal(x - f.gradient(x), 1)
    p.maximize((f + h).value(y) - (f + h).value(best))
    return p


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        pytest.param(
            value_alone, r"with function values \(f.value\(x\) - f.value\(x\*\) may be meant\)", marks=pytest.mark.slow
        ),
        pytest.param(clients, r"\(x - x\*\).square", marks=pytest.mark.slow),
        (composite, r"\(p.at_most\(\(x - x\*\).square, 1\)"),
    ],
)
def test_a_problem_without_an_anchor_is_unbounded_in_one_sentence(
    problem: Callable[[], Problem], sentence: str
) -> None:
    with pytest.raises(AssumptionViolated, match=f"the worst case must be finite, got .* without end.*{sentence}"):
        problem().solve()


def test_strong_convexity_is_an_anchor() -> None:
    # f - f* <= |gradient|^2 / (2 mu)
    lower, upper = smooth(mu=Q(1, 10)).solve().enclosure
    assert lower <= 5 <= upper


def test_a_ray_is_checked_on_the_program_that_it_is_about() -> None:
    p = smooth()
    record, program = p.record, p.program()
    ray = with_ray(Proof(program), record.points).ray
    assert ray is not None
    assert verify_ray(program, ray) > 0
    x, best = record.names["x"], record.declared[0].calls[0].at
    assert ray.speed2(x - best, program.sizes) > 0
    near = Constraint((x - best).square, Q(10**9))
    tied = Constraint(program.objective, Q(10**9))
    for more in (near, tied):
        anchored = replace(program, inequalities=(*program.inequalities, more))
        with pytest.raises(OracleError, match="must fulfill all constraints"):
            verify_ray(anchored, ray)
        assert with_ray(Proof(anchored), record.points).ray is None
    with pytest.raises(OracleError, match="must grow along the ray, got -"):
        verify_ray(replace(program, objective=-1 * program.objective), ray)
