"""The tests keep rules of their own: each module says what it checks, and no test can pass without an assertion."""

import ast
from collections.abc import Iterable

import pytest

from tests.test_layers import Modules, modules, parsed


def without_docstring(sources: Modules) -> list[str]:
    """Name modules of tests that do not say what they check."""
    return [name for name, source in sources.items() if not ast.get_docstring(parsed(source))]


def without_assertion(sources: Modules) -> list[str]:
    """Name tests that can end without an assertion, for example since every one of them stands behind an ``if``."""
    found = []
    for module, source in sources.items():
        for node in ast.walk(parsed(source)):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and not _asserts(node.body):
                found.append(f"{module}:{node.lineno} {node.name}")
    return found


def _asserts(statements: Iterable[ast.stmt]) -> bool:
    """Whether some assertion is reached on every way through the statements; loops are taken to be entered."""
    return any(map(_is_reached, statements))


def _is_reached(statement: ast.stmt) -> bool:
    match statement:
        case ast.If(body=body, orelse=orelse):
            return _asserts(body) and _asserts(orelse)
        case ast.With(items=items, body=body):
            return _asserts(body) or any(_is_assertion(item.context_expr) for item in items)
        case ast.For(body=body) | ast.While(body=body) | ast.Try(body=body):
            return _asserts(body)
        case ast.FunctionDef() | ast.ClassDef():
            return False
        case _:
            return any(map(_is_assertion, ast.walk(statement)))


def _is_assertion(node: ast.AST) -> bool:
    """Whether this asserts: by the word, by ``pytest.raises`` or its like, or by a function whose name says so."""
    name = ast.unparse(node.func).split(".")[-1] if isinstance(node, ast.Call) else ""
    return isinstance(node, ast.Assert) or name.startswith(("assert_", "check_")) or name in {"raises", "warns", "fail"}


@pytest.mark.parametrize("rule", [without_docstring, without_assertion])
def test_the_tests_keep_the_rule(rule) -> None:
    assert rule({name: text for name, text in modules("tests").items() if ".test_" in name}) == []


@pytest.mark.parametrize(
    "body",
    [
        "assert x",
        "for x in y:\n        assert x",
        "with pytest.raises(ValueError):\n        f()",
        "with given(), pytest.warns(Odd):\n        f()",
        "np.testing.assert_array_equal(x, y)",
        "check_everywhere(x)",
        "if x:\n        assert x\n    else:\n        assert y",
    ],
)
def test_an_assertion_is_seen(body: str) -> None:
    assert without_assertion({"a": f"def test_it():\n    {body}\n"}) == []


@pytest.mark.parametrize(
    "body",
    [
        "f(x)",
        "if x:\n        assert x",
        "for x in y:\n        if x:\n            assert x",
        "if x:\n        assert x\n    else:\n        f()",
        "def inner():\n        assert x",
        "with given():\n        f()",
    ],
)
def test_a_test_that_may_assert_nothing_is_seen(body: str) -> None:
    assert without_assertion({"a": f"def test_it():\n    {body}\n"}) == ["a:1 test_it"]


def test_a_module_without_a_word_is_seen() -> None:
    assert without_docstring({"a": "x = 1", "b": '"""Words."""'}) == ["a"]
