"""``bound``: the value of a bound and its summands."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from fedtheory._commands.arguments import bound_help, given
from fedtheory._commands.documents import document, double, numbers, print_json
from fedtheory._commands.refusals import one_of, refuse
from fedtheory._commands.showing import write_pairs
from fedtheory._support.console import show_table
from fedtheory.theorem.paper import Bound
from fedtheory.verification import catalogue

__all__ = ["evaluate", "evaluate_help"]


def evaluate(name: str, rest: Sequence[str], *, printed: bool, loose: bool, as_json: bool) -> int:
    """Show the value of a bound and its summands."""
    bounds = catalogue.known_bounds()
    name = one_of(name, list(bounds), "a bound")
    bound = bounds[name].printed if printed else bounds[name]
    arguments = given(bound, rest)
    try:
        value, unmet = bound(**arguments, strict=False)
        if unmet and not loose:
            refuse(f"{bound.statement.number} needs {unmet[0]}")
        summands = bound.terms(**arguments, strict=False)
    except (ValueError, TypeError) as error:
        refuse(str(error))
    if as_json:
        print_json(_document(name, bound, arguments, {**summands, "total": value}, unmet))
        return 0
    write_pairs([("bound", name), ("source", str(bound.statement))])
    rows = [("unmet hypothesis", text) for text in unmet]
    rows += [(part, _number(summand)) for part, summand in {**summands, "total": value}.items()]
    show_table([{"summand": part, "value": text} for part, text in rows])
    return 0


def evaluate_help(command: str, name: str, *, printed: bool) -> int:
    """Show what a bound is and what its parameters mean."""
    bounds = catalogue.known_bounds()
    name = one_of(name, list(bounds), "a bound")
    bound = bounds[name]
    if printed and bound.printed is not bound:
        return bound_help(command, f"{name}.printed", bound.printed)
    return bound_help(command, name, bound)


def _number(value: Any) -> str:
    if isinstance(value, Fraction):
        return str(value) if value.denominator == 1 else f"{value} = {double(value):.6g}"
    return f"{value:.10g}"


def _document(
    name: str, bound: Bound, arguments: Mapping[str, Any], summands: Mapping[str, Any], unmet: list[str]
) -> dict[str, Any]:
    found = numbers(summands)
    total = found["values"].pop("total")
    return document(
        bound=name,
        source=str(bound.statement),
        arguments=numbers(arguments)["values"],
        unmet=unmet,
        summands=found["values"],
        total=total,
        exact=found["exact"],
    )
