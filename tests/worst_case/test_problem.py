"""Methods of the literature in the problem language have their known worst cases."""

from fractions import Fraction as Q
from typing import Any

import numpy as np
import pytest

from fedtheory.errors import OracleError
from fedtheory.worst_case import Problem, fedavg
from fedtheory.worst_case.worst_cases import WorstCase

WIDE = 1e-6
"""How far both sides may be apart, as a share; they are proved, so that this only says that they are sharp."""


def tenths(rng: np.random.Generator, low: int, high: int) -> Q:
    """Draw a number of tenths."""
    return Q(int(rng.integers(low, high + 1)), 10)


def started(p: Problem, optimum: Any, distance2: Q) -> Any:
    """Return a start at some squared distance from the optimum."""
    x = p.point("start")
    p.at_most((x - optimum).square, distance2, name="distance2")
    return x


def test_sums_and_squares_of_python_are_those_of_the_language() -> None:
    p = Problem()
    x, y = p.point("x"), p.point("y")
    f = p.function(L=1)
    forms, values = [x @ y, (x - y).square], [f.value(x), f.value(y)]
    assert repr(sum(forms)) == repr(forms[0] + forms[1])
    assert repr(sum(values)) == repr(values[0] + values[1])
    total: Any = sum([x, x, y])
    assert total.coordinates == (2 * x + y).coordinates
    assert repr(x**2) == repr(x.square)
    exponents: list[Any] = [3, 1, True, 2.0]
    for exponent in exponents:
        with pytest.raises(TypeError, match=r"a vector has the power 2 only, its squared length \(x.square\)"):
            _ = x**exponent
    with pytest.raises(TypeError, match="unsupported operand"):
        _ = 1 + x @ y


def test_conditions_that_bound_nothing_prove_no_infinite_worst_case() -> None:
    p = Problem()
    f = p.function(mu=-1, L=1, polyak=Q(1, 2))
    best, x = f.minimizer(), p.point()
    p.at_most(f.gradient(x).square, 1)
    p.maximize((x - best).square)
    with pytest.raises(OracleError, match="too little that is known of f0"):
        p.solve()


CLASS: dict[str, Any] = {"mu": Q(1, 10), "L": 1}


def local_steps(num_clients: int, num_selected: int | None) -> WorstCase:
    """A round of two local steps of 1/4."""
    p = Problem()
    c = p.clients(num_clients, **CLASS)
    best = c.minimizer()
    w = started(p, best, Q(1))
    p.at_most(c.objective_gap(), Q(1, 2), name="objective_gap")
    for _ in range(2):
        w = c.step(w, Q(1, 4))
    p.maximize((c.mean(w) - best).square if num_selected is None else c.sample(num_selected).square(w - best))
    return p.solve()


@pytest.mark.parametrize(("num_clients", "num_selected"), [(2, None), (3, None), (1000, None), (5, 2)])
def test_federated_averaging_has_the_worst_case_of_its_own_door(num_clients: int, num_selected: int | None) -> None:
    counts = {} if num_selected is None else {"num_clients": num_clients, "num_selected": num_selected}
    sampling = "all" if num_selected is None else "distinct"
    door = fedavg(2, Q(1, 4), distance2=1, objective_gap=Q(1, 2), sampling=sampling, **CLASS, **counts)
    found = local_steps(num_clients, num_selected)
    lower, upper = found.enclosure
    assert max(lower, door.enclosure[0]) <= min(upper, door.enclosure[1])
    assert found.relative_width < WIDE
    assert {"distance2", "objective_gap"} == set(found.multipliers)


def test_a_value_without_a_gradient_of_bounded_length_has_both_sides() -> None:
    """``f(x) - f* <= 1`` at the start says nothing of the subgradient there, which may be as long as one likes."""
    p = Problem()
    f, h = p.function(), p.function()
    best, x = f.minimizer(), p.point()
    p.at_most(h.value(best) - h.value(x) - h.gradient(x) @ (best - x), 1)
    y = (3 * f + h).linear_minimizer(-h.gradient(x))
    p.maximize(f.value(y) - f.value(best))
    worst = p.solve()
    lower, upper = worst.enclosure
    assert lower <= Q(1, 3) <= upper
    assert upper - lower < WIDE
    assert worst.verify() == (lower, upper)


def contradiction(p: Problem) -> Any:
    x = p.point()
    p.at_most(x.square, 1, "radius")
    p.at_most(-x.square, -2, "away")
    p.maximize(x.square)
    return p.solve()


def unbounded(p: Problem) -> Any:
    f = p.function(L=1)
    x = p.point("start")
    p.at_most(f.value(x) - f.value(f.minimizer()), 1)
    p.maximize((x - f.minimizer()).square)
    return p.solve()


def without_a_start(p: Problem) -> Any:
    f = p.function(L=1)
    best, x = f.minimizer(), p.point("start")
    for _ in range(4):
        x = x - f.gradient(x)
    p.maximize(f.value(x) - f.value(best))
    return p.solve()


@pytest.mark.parametrize(
    ("write", "sentence"),
    [
        (lambda p: p.point() * p.point(), "x @ y is the product of two vectors"),
        (lambda p: p.at_most(p.point().square, 0.5), "bound must be an int or a Fraction, got 0.5"),
        (lambda p: p.solve(), "a problem must maximize something"),
        (lambda p: p.maximize((0 * p.point()).square), "forms that differ from 0"),
        (lambda p: p.equal_to(p.point().square, 0), r"a square .* at most 0"),
        (lambda p: p.clients(2, L=1).heterogeneity(zeta2=0), "zeta2 must be above 0"),
        (lambda p: p.point() + Problem().point(), "must belong to one problem"),
        (lambda p: p.at_most(Problem().point().square, 1), "must be of the problem"),
        (lambda p: p.function(L=1).gradient(Problem().point()), "of its own problem"),
        (lambda p: p.function(L=1) + Problem().function(L=1), "must belong to one problem"),
        (lambda p: p.function(mu=1, L=1), "mu must be below L"),
        (lambda p: p.function(L=1, polyak=2), "polyak must be at most 1"),
        (lambda p: p.function(quadratic=True), "must have an L"),
        (lambda p: p.function(muu=3), r"function takes no muu \(close: mu\)"),
        (lambda p: p.operator(), "an operator must have a hypothesis"),
        (lambda p: p.operator(monotone=True, strongly_monotone=1), "described once"),
        (lambda p: p.clients(2, L=1).sample(3), "at most the number of clients"),
        (lambda p: p.mean([p.point(), p.point()], [1, 1]), "sum to 1"),
        (lambda p: p.mean([p.point(), p.point().square]), "outcomes must be vectors, or forms"),
        (lambda p: (p.function(L=1) + p.function()).proximal(p.point(), 1), "asked of one function"),
        (lambda p: (p.function(mu=-1, L=1) + p.function()).minimizer(), "convex functions"),
        (contradiction, "contradictions of away and radius"),
        (unbounded, "the worst case must be finite, got one that grows without end with start"),
        (without_a_start, "the worst case must be finite, got one that grows without end with start"),
    ],
)
def test_a_problem_that_makes_no_sense_is_refused(write: Any, sentence: str) -> None:
    with pytest.raises((TypeError, ValueError), match=sentence):
        write(Problem())
