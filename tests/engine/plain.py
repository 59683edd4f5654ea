"""Compiled rules as the plain Python functions from which they were compiled."""

from dataclasses import replace

from fedtheory.selection.rules import RULES, Rules


def in_plain_python(rules: Rules) -> Rules:
    """Return the rules without numba."""
    return replace(rules, **{name: getattr(getattr(rules, name), "py_func", getattr(rules, name)) for name in RULES})
