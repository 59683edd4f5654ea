"""The doctest of every bound is a computation by hand in which no summand is zero and no hypothesis is contradicted."""

import ast
import doctest
import random
import sys
from fractions import Fraction

import pytest

from fedtheory.theorem.paper import is_bound
from tests.bounds import worlds
from tests.bounds.test_transcriptions import PAPERS, forms

FORMS = [pytest.param(param.values[2], id=param.id) for param in forms()]


def instances(bound):
    """(bound, arguments) of every call of a bound in its docstring."""
    names = {**vars(sys.modules[bound.__module__]), "Q": Fraction}
    examples = doctest.DocTestParser().get_examples(bound.__doc__ or "")
    for call in (node for example in examples for node in ast.walk(ast.parse(example.source))):
        if isinstance(call, ast.Call) and is_bound(called := _value(call.func, names)):
            first = [_value(argument, names) for argument in call.args]
            rest = {keyword.arg: _value(keyword.value, names) for keyword in call.keywords}
            yield called, first, rest


def _value(node, names):
    try:
        return eval(compile(ast.Expression(node), "docstring", "eval"), names)
    except NameError:
        return None


@pytest.mark.parametrize("bound", FORMS)
def test_no_summand_and_no_argument_of_the_computation_is_zero(bound):
    own = [(first, rest) for called, first, rest in instances(bound) if called is bound]
    assert own, "the docstring computes nothing"
    for first, rest in own:
        assert all(first)
        assert all(rest.values())
        assert all(bound.terms(*first, **rest).values())


@pytest.mark.parametrize("bound", FORMS)
def test_some_federation_could_have_the_constants_of_the_computation(bound):
    for called, first, rest in instances(bound):
        assert worlds.contradictions(worlds.named(called, first, rest)) == []


@pytest.mark.parametrize("paper", PAPERS)
def test_some_federation_could_have_the_constants_of_the_random_worlds(paper):
    rng = random.Random(paper)
    for _ in range(100):
        assert worlds.contradictions(getattr(worlds, paper)(rng)) == []
