"""The doctest of every bound can be verified by hand, with nonzero terms and without violated hypotheses."""

import ast
import doctest
import sys
from fractions import Fraction

import pytest

from fedtheory.theorem.bound import is_bound
from fedtheory.verification import known_bounds
from tests.additions import leave_out_if_new
from tests.bounds import worlds
from tests.bounds.test_transcriptions import PAPERS, forms

FORMS = [pytest.param(param.values[0], param.values[2], id=param.id) for param in forms()]


def instances(bound):
    """(bound, arguments) of every call of a bound in its docstring."""
    names = {**vars(sys.modules[bound.__module__]), "Q": Fraction}
    examples = doctest.DocTestParser().get_examples(bound.__doc__ or "")
    answered = [ast.parse(example.source) for example in examples if example.exc_msg is None]
    for call in (node for tree in answered for node in ast.walk(tree)):
        if isinstance(call, ast.Call) and is_bound(called := _value(call.func, names)):
            first = [_value(argument, names) for argument in call.args]
            rest = {keyword.arg: _value(keyword.value, names) for keyword in call.keywords}
            yield called, first, rest


def _value(node, names):
    try:
        return eval(compile(ast.Expression(node), "docstring", "eval"), names)
    except (NameError, SyntaxError):  # a variable of the example, or *several
        return None


@pytest.mark.parametrize(("name", "bound"), FORMS)
def test_no_summand_and_no_argument_of_the_computation_is_zero(name, bound):
    own = [(first, rest) for called, first, rest in instances(bound) if called is bound]
    zeros = [
        rest
        for first, rest in own
        if not (all(first) and all(rest.values()) and all(bound.terms(*first, **rest).values()))
    ]
    leave_out_if_new(name, "a computation by hand without a zero" if zeros or not own else "")
    assert own, "the docstring computes nothing"
    assert zeros == []


@pytest.mark.parametrize(("name", "bound"), FORMS)
def test_some_federation_could_have_the_constants_of_the_computation(name, bound):
    contradicted = [
        text
        for called, first, rest in instances(bound)
        if None not in (*first, *rest)
        for text in worlds.contradictions(worlds.named(called, first, rest))
    ]
    leave_out_if_new(name, "constants in its docstring that some federation has" if contradicted else "")
    assert contradicted == []


@pytest.mark.parametrize("paper", PAPERS)
def test_some_federation_could_have_the_constants_of_the_random_worlds(paper):
    bounds = [bound for name, bound in known_bounds().items() if name.startswith(f"{paper}.")]
    taken, rng = {argument for bound in bounds for argument in bound.domains}, worlds.generator(paper)
    for _ in range(100):
        world = worlds.world(paper, rng)
        assert worlds.contradictions({name: world[name] for name in taken if name in world}) == []
