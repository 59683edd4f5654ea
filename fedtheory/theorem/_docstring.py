"""The docstring of a bound: what its author wrote, and beside it what the glossary and the hypotheses say."""

import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Any

from fedtheory.theorem.assumptions import Assumption
from fedtheory.theorem.symbols import Symbol

__all__ = ["completed", "explained", "sections_of"]

_TITLE = re.compile(r"[A-Z]\w*( \w+)?")
_RETURNS = """\
float, Fraction or array
    {side} bound, in the unit of what it bounds: the sum of its summands, which ``terms`` names. Exact if all numbers
    are rationals, of the shape that the arguments have together; with ``strict=False`` the pair (value, unmet
    hypotheses)."""


def explained(rows: Mapping[str, Symbol], function: Callable[..., Any]) -> dict[str, Symbol]:
    """Return the symbols of a bound, whose meanings are whole sentences: its author's, or those of the glossary."""
    own = dict(_entries(_written(function).get("Parameters", "")))
    return {name: replace(row, meaning=own.get(name, row.text)) for name, row in rows.items()}


def completed(function: Callable[..., Any], symbols: Iterable[Symbol], assumed: Iterable[Assumption], side: str) -> str:
    """Return the docstring with the sections Parameters, Returns and Raises; the last two may be the author's own."""
    written = _written(function)
    made = {
        "Parameters": "\n".join(_parameters(symbols)),
        "Returns": _RETURNS.format(side="A lower" if side == "lower" else "An upper"),
        "Raises": "\n".join(_raises([f"    - ``{one.text}``" for one in assumed])),
    }
    parts = {"": written.pop("", ""), **made, **written, "Parameters": made["Parameters"]}
    return "\n\n".join(
        f"{title}\n{'-' * len(title)}\n{text}" if title else text for title, text in parts.items() if text
    )


def _parameters(symbols: Iterable[Symbol]) -> Iterator[str]:
    for meaning, group in groupby(symbols, key=lambda one: one.meaning):
        alike = list(group)
        kinds = ", ".join(dict.fromkeys(one.kind for one in alike))
        yield f"{', '.join(one.name for one in alike)} : {kinds}"
        if meaning:
            yield _filled(meaning)


@functools.cache
def _filled(meaning: str) -> str:
    return textwrap.fill(meaning, 116, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)


def _raises(hypotheses: list[str]) -> Iterator[str]:
    if hypotheses:
        yield "AssumptionViolated\n    If the numbers break a hypothesis. All of them, and what they imply together:\n"
        yield from hypotheses
    yield "ValueError, TypeError\n    If an argument is outside its domain."


def sections_of(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the parts of a docstring: what comes before all sections under an empty title, then each section."""
    heads = [i for i, line in enumerate(lines[:-1]) if _TITLE.fullmatch(line) and set(lines[i + 1]) == {"-"}]
    yield "", list(lines[: heads[0] if heads else None])
    for start, end in pairwise([*heads, len(lines)]):
        yield lines[start], list(lines[start + 2 : end])


def _written(function: Callable[..., Any]) -> dict[str, str]:
    """Return what the author has written, by the titles of sections."""
    lines = inspect.cleandoc(function.__doc__ or "").split("\n")
    return {title: "\n".join(body).strip("\n") for title, body in sections_of(lines)}


def _entries(section: str) -> Iterator[tuple[str, str]]:
    """Yield names and what is said of them; a head ``mu, L : float`` is about both."""
    entries: list[tuple[str, list[str]]] = []
    for line in section.split("\n"):
        if line[:1].strip():
            entries.append((line.partition(" : ")[0], []))
        elif entries:
            entries[-1][1].append(line)
    yield from ((name, " ".join(" ".join(text).split())) for names, text in entries for name in names.split(", "))
