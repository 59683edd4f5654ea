"""``bound``: the value of a bound and its summands; ``worst``: its value and the proved worst case."""

import argparse
import inspect
import textwrap
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import groupby
from typing import Any

from fedtheory import worst_case
from fedtheory._storage.files import deliver, json_bytes
from fedtheory._support.console import say, show_table
from fedtheory._support.wording import suggest
from fedtheory.bounds.catalogue import known_bounds
from fedtheory.cli.documents import document, double, numbers, print_json, write_pairs
from fedtheory.cli.refusals import known_in, one_of, program, refuse, refuse_unless_new
from fedtheory.theorem.bound import Bound
from fedtheory.theorem.symbols import Symbol

__all__ = ["bound_help", "compare_worst", "evaluate", "needed"]


def evaluate(arguments: argparse.Namespace) -> int:
    """Print the value of a bound and its summands."""
    if arguments.help:
        return _help(arguments, printed=arguments.printed)
    _, bounds = known_in(arguments.source)
    name = one_of(arguments.name, list(bounds), "a bound")
    bound = bounds[name].printed if arguments.printed else bounds[name]
    given = _given(bound, arguments.rest)
    try:
        value, unmet = bound(**given, strict=False)
        if unmet and not arguments.loose:
            refuse(f"{bound.short_name} needs {unmet[0]}")
        summands = bound.terms(**given, strict=False)
    except (ValueError, TypeError) as error:
        refuse(str(error))
    if arguments.json:
        print_json(_document(name, bound, given, {**summands, "total": value}, unmet))
        return 0
    write_pairs([("bound", name), ("source", str(bound.statement))])
    rows = [("unmet hypothesis", text) for text in unmet]
    rows += [(part, _number(summand)) for part, summand in {**summands, "total": value}.items()]
    show_table([{"summand": part, "value": text} for part, text in rows])
    return 0


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


def compare_worst(arguments: argparse.Namespace) -> int:
    """Print the value of a bound and its worst case; write an instance that attains it if requested."""
    if arguments.help:
        return _help(arguments, printed=False)
    target = arguments.instance
    bounds = {key: bound for key, bound in known_bounds().items() if bound.worst_case is not None}
    name = one_of(arguments.name, list(bounds), "a bound whose worst case is known")
    refuse_unless_new(target, "--instance", force=arguments.force)
    try:
        found = worst_case.compare(bounds[name], **_given(bounds[name], arguments.rest, exact=True))
        rows = found.rows()  # computes both sides
        instance = found.worst_case.instance().as_data() if target is not None else {}
    except (ValueError, TypeError) as error:
        refuse(str(error))
    remark = [("remark", found.remark)] if found.remark else []
    if arguments.json:
        print_json(_compared(name, bounds[name], found))
    else:
        write_pairs([("bound", name), ("source", str(bounds[name].statement)), *remark])
        show_table(rows)
    if target is not None:
        deliver(target, json_bytes(instance))
    return 0


def _compared(name: str, bound: Bound, found: "worst_case.Comparison") -> dict[str, Any]:
    lower, upper = found.worst_case.enclosure
    known = numbers({"bound_value": found.bound_value, "worst_at_least": lower, "worst_at_most": upper})
    sensitivities = {
        name: {"bound": double(one.bound), "worst_case": double(one.worst_case)}
        for name, one in found.sensitivities.items()
    }
    return document(
        bound=name,
        source=str(bound.statement),
        remark=found.remark,
        **known["values"],
        looseness=found.looseness,
        sensitivities=sensitivities,
        exact=known["exact"],
    )


def _given(bound: Bound, rest: Sequence[str], *, exact: bool = False) -> dict[str, Any]:
    """Return the arguments in the options; refuse unknown and missing ones.

    If ``exact``, decimals are converted to rationals with the digits of a float.
    """
    known = list(bound.symbols)
    found: dict[str, Any] = {}
    for option, text in _pairs(rest):
        name = option.removeprefix("--").replace("-", "_")
        if name not in known:
            refuse(f"unknown parameter {option}{suggest(option, map(_option, known))}")
        is_count = bound.domains[name].assumptions.get("integer", False)
        found[name] = _value(name, text, is_count=is_count, exact=exact)
    missing = [_option(name) for name in needed(bound) if name not in found]
    if missing:
        refuse(f"{bound.__name__} needs {' '.join(missing)}")
    return found


def needed(bound: Bound) -> list[str]:
    """Return the names of the arguments without a default."""
    return [name for name, value in inspect.signature(bound).parameters.items() if value.default is value.empty]


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _pairs(rest: Sequence[str]) -> list[tuple[str, str]]:
    words = [part for word in rest for part in (word.split("=", 1) if word.startswith("--") else [word])]
    if len(words) % 2:
        refuse(f"parameters must come in pairs --NAME VALUE, got {' '.join(rest)}")
    return list(zip(words[::2], words[1::2], strict=True))


def _value(name: str, text: str, *, is_count: bool, exact: bool) -> Any:
    wanted = "a whole number" if is_count else "a number such as 0.5, 1e-3 or 2/3"
    try:
        if is_count or "/" in text:
            return int(text) if is_count else Fraction(text)
        # The shortest digits of a double, since Fraction("1e-999999999") would fill the memory.
        return Fraction(repr(float(text))) if exact else float(text)
    except (ValueError, ZeroDivisionError):
        refuse(f"{_option(name)} must be {wanted}, got {text!r}")


def _help(arguments: argparse.Namespace, *, printed: bool) -> int:
    _, bounds = known_in(arguments.source)
    command, name = arguments.command, one_of(arguments.name, list(bounds), "a bound")
    bound = bounds[name]
    if printed and bound.printed is not bound:
        return bound_help(command, f"{name}.printed", bound.printed)
    return bound_help(command, name, bound)


def bound_help(command: str, name: str, bound: Bound) -> int:
    """Print a bound's summary, source, usage, parameters and hypotheses."""
    # The text up to the first empty line is the summary.
    summary = (inspect.getdoc(bound) or "").split("\n\n")[0]
    options = " ".join(f"{_option(required)} ..." for required in needed(bound))
    lines = [
        f"{name}: {' '.join(summary.split())}".replace("``", ""),
        "",
        f"source: {bound.statement}",
        "",
        f"{program()} {command} {name.replace('.printed', ' --printed')} {options}",
    ]
    say(*(folded for line in lines for folded in textwrap.wrap(line, 80, break_on_hyphens=False) or [""]))
    say("", "parameters:")
    for _, group in groupby(bound.symbols.values(), key=lambda symbol: symbol.meaning):
        _write_parameters(list(group), needed(bound))
    if bound.hypotheses:
        say("", "assumes:", *(_indented(assumed.text, 2) for assumed in bound.hypotheses))
    return 0


def _write_parameters(group: Sequence[Symbol], required: Sequence[str]) -> None:
    for kind, same_kind in groupby(group, key=lambda one: one.kind + ("" if one.name in required else ", optional")):
        names = ", ".join(_option(one.name) for one in same_kind)
        say(f"  {names}  ({kind})")
    # Code markup of the pages is removed on a terminal.
    say(_indented(group[0].meaning.replace("``", ""), 6))


def _indented(text: str, blanks: int) -> str:
    later = " " * (blanks + 2 * (blanks == 2))
    return textwrap.fill(text, 80, initial_indent=" " * blanks, subsequent_indent=later, break_on_hyphens=False)
