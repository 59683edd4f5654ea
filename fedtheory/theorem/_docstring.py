"""Sections of a numpydoc docstring."""

import inspect
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

_TITLE = re.compile(r"[A-Z]\w*( \w+)?")


def sections_of(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the sections of a docstring with their titles; the text before all sections has an empty title."""
    heads = [i for i, line in enumerate(lines[:-1]) if _TITLE.fullmatch(line) and set(lines[i + 1]) == {"-"}]
    yield "", list(lines[: heads[0] if heads else None])
    for start, end in pairwise([*heads, len(lines)]):
        yield lines[start], list(lines[start + 2 : end])


def parameters_of(docstring: str) -> dict[str, str]:
    """Return the descriptions in the section Parameters by name; a head ``mu, L : float`` describes both."""
    entries: list[tuple[str, list[str]]] = []
    for line in dict(sections_of(inspect.cleandoc(docstring).split("\n"))).get("Parameters", []):
        if line[:1].strip():
            entries.append((line.partition(" : ")[0], []))
        elif entries:
            entries[-1][1].append(line)
    return {name: " ".join(" ".join(text).split()) for names, text in entries for name in names.split(", ")}
