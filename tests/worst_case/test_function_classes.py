"""Classes of functions and operators are described by their parameters, and may be of the user's own."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction as Q
from typing import Any

import pytest

from fedtheory.worst_case import Problem
from fedtheory.worst_case.function_classes import class_of
from fedtheory.worst_case.function_classes.interface import Called, Condition, FunctionClass
from fedtheory.worst_case.function_classes.nonsmooth_functions import nonsmooth

DECLARED: dict[str, Any] = {
    "convex": lambda p: p.function(),
    "smooth": lambda p: p.function(mu=-1, L=2, lipschitz=3),
    "bounded subgradients": lambda p: p.function(lipschitz=2),
    "quadratic": lambda p: p.function(mu=-1, L=1, quadratic=True),
    "Polyak": lambda p: p.function(mu=-1, L=1, polyak=Q(1, 2)),
    "quadratic and Polyak": lambda p: p.function(L=1, polyak=Q(1, 2), quadratic=True),
    "set": lambda p: p.indicator(),
    "bounded set": lambda p: p.indicator(diameter=2),
    "operator": lambda p: p.operator(monotone=True, lipschitz=2),
}

TEXTS = {
    "convex": "convex",
    "smooth": "1-weakly convex and 2-smooth and 3-Lipschitz",
    "bounded subgradients": "convex and 2-Lipschitz",
    "quadratic": "quadratic with eigenvalues from -1 to 1",
    "Polyak": "1-smooth and of Polyak's class with constant 1/2",
    "quadratic and Polyak": "quadratic with eigenvalues from 0 to 1 and of Polyak's class with constant 1/2",
    "set": "the indicator of a closed convex set",
    "bounded set": "the indicator of a closed convex set of diameter at most 2",
    "operator": "monotone and 2-Lipschitz",
}


@pytest.mark.parametrize("name", DECLARED)
def test_a_class_is_known_by_its_parameters(name: str) -> None:
    of = DECLARED[name](Problem()).of
    again = class_of(of.parameters, of.kind)
    assert of.text(str) == TEXTS[name]
    assert again.parameters == of.parameters
    assert (again.text(str), again.exact, again.kind) == (of.text(str), of.exact, of.kind)


def test_classes_with_a_formal_statement_name_it_and_others_say_why() -> None:
    """Quadratic functions and operators have none."""
    classes = {name: declare(Problem()).of for name, declare in DECLARED.items()}
    assert {name for name, of in classes.items() if of.coq is None} == {"quadratic", "quadratic and Polyak", "operator"}
    assert classes["smooth"].coq(str) == ["lower -1", "upper 2"]
    assert classes["bounded set"].coq(str) == ["diameter 2"]


def growing(growth: Q) -> FunctionClass:
    """Convex functions with ``f(x) - f* >= growth/2 |x - x*|^2``."""
    convex = nonsmooth(Q(0))

    def conditions(called: Called) -> Iterator[Any]:
        yield from convex.conditions(called)
        for number, one in enumerate(called.calls):
            if called.minimum is not None and called.minimum != number:
                best = called.calls[called.minimum]
                least = best.value + growth / 2 * (one.at - best.at).square
                yield Condition((number, called.minimum), least - one.value)

    own = {"exact": False, "needs_minimizer": True, "shifts": "none", "coq": None}
    return replace(convex, parameters={**convex.parameters, "growth": growth}, conditions=conditions, **own)


@pytest.mark.parametrize("num_clients", [1, 3])
def test_a_class_of_ones_own_has_the_value_that_a_hand_computation_gives(num_clients: int) -> None:
    """A proximal step y has ``|x - x*|^2 = |y - x*|^2 + 2 s <g, y - x*> + s^2 |g|^2``, and ``|g| >= m/2 |y - x*|``."""
    p = Problem()
    f, x = p.function_of(growing(Q(2)), num_clients=num_clients), p.point()
    best = f.minimizer(objective_gap=0)
    p.at_most((x - best).square, 1)
    p.maximize((f.proximal(x, 1) - best).square)
    worst = p.solve()
    assert worst.lower is None
    assert worst.upper == pytest.approx(1 / (1 + 1) ** 2, rel=1e-6)


@pytest.mark.parametrize("wrong", [{"of": "convex"}, {"of": nonsmooth(Q(0)), "num_clients": 0}])
def test_a_function_of_no_class_is_refused(wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"of must be|num_clients must be"):
        Problem().function_of(**wrong)
