"""Sections of a docstring in the form of numpydoc."""

import inspect
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

_TITLE = re.compile(r"[A-Z]\w*( \w+)?")


def sections_of(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the parts of a docstring: what comes before all sections under an empty title, then each section."""
    heads = [i for i, line in enumerate(lines[:-1]) if _TITLE.fullmatch(line) and set(lines[i + 1]) == {"-"}]
    yield "", list(lines[: heads[0] if heads else None])
    for start, end in pairwise([*heads, len(lines)]):
        yield lines[start], list(lines[start + 2 : end])


def parameters_of(docstring: str) -> dict[str, str]:
    """Return what the section Parameters says, by name; a head ``mu, L : float`` is about both."""
    entries: list[tuple[str, list[str]]] = []
    for line in dict(sections_of(inspect.cleandoc(docstring).split("\n"))).get("Parameters", []):
        if line[:1].strip():
            entries.append((line.partition(" : ")[0], []))
        elif entries:
            entries[-1][1].append(line)
    return {name: " ".join(" ".join(text).split()) for names, text in entries for name in names.split(", ")}
