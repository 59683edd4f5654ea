"""What the pages of the API say beyond docstrings: types, and of a bound all that it knows about itself."""

import inspect
import os
import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import sphinx.application

_TITLE = re.compile(r"[A-Z]\w*( \w+)?")
_LISTED = ("Parameters", "Attributes")
# Rows of a table are no targets of Sphinx; pages of the API stand two folders below the root.
_CLAIMS = "/".join([os.pardir, os.pardir, "theory", "claims.html"])


def sections_of(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the parts of a docstring: what comes before all sections under an empty title, then each section."""
    heads = [i for i, line in enumerate(lines[:-1]) if _TITLE.fullmatch(line) and set(lines[i + 1]) == {"-"}]
    yield "", lines[: heads[0] if heads else len(lines)]
    for start, end in zip(heads, [*heads, len(lines)][1:], strict=True):
        yield lines[start], lines[start + 2 : end]


def short_type(annotation: Any) -> str:
    """Write an annotation as a reader would; nothing for one that says nothing.

    >>> short_type("npt.ArrayLike | None")
    'array_like or None'
    """
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    text = re.sub(r"\b(?:\w+\.)*(\w+)", r"\1", text.strip("'"))
    text = re.sub(r"\bArrayLike\b", "array_like", text)
    text = re.sub(r"\bArray\b|\bndarray\[.*?float64\]\]", "array", text)
    text = text.replace("bool_", "bool")
    return "" if text in ("Any", "Any | None", "Unpack") else text.replace(" | ", " or ")


def annotations_of(value: Any) -> dict[str, Any]:
    """Types by the name of a parameter or of an attribute."""
    known = dict(getattr(value, "__annotations__", {}))
    try:
        given = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        given = ()
    return known | {one.name: one.annotation for one in given if one.annotation is not one.empty}


def with_types(lines: list[str], known: dict[str, Any]) -> list[str]:
    """Add types to entries ``name`` or ``name, name`` that have none."""
    out: list[str] = []
    for title, body in sections_of(lines):
        out += [title, "-" * len(title)] if title else []
        for line in body:
            names = line.split(", ")
            types = dict.fromkeys(short_type(known.get(name, "")) for name in names)
            typed = title in _LISTED and line[:1].strip() and " : " not in line and all(types)
            out.append(f"{line} : {', '.join(types)}" if typed else line)
    return out


@cache
def _known() -> tuple[dict[Any, str], dict[Any, list[Any]]]:
    """Names of bounds, and the claims about each."""
    from fedtheory.verification import known_bounds, known_claims

    bounds = {bound: name for name, bound in known_bounds().items()}
    return bounds, {bound: [claim for claim in known_claims().values() if claim.bound is bound] for bound in bounds}


def of_bound(bound: Any) -> dict[str, list[str]]:
    """Sections of a bound: its parameters with their domains, what it returns and raises, its source and its claims."""
    from fedtheory._commands.meanings import parameters

    names, claims = _known()
    name = names[bound]
    known = parameters(name, {other: each for each, other in names.items()})
    told: list[str] = []
    for meaning, group in groupby(known, key=lambda one: one.meaning):
        together = list(group)
        domains = ", ".join(dict.fromkeys(one.domain for one in together))
        told += [f"{', '.join(one.name for one in together)} : {domains}", f"    {meaning}"]
    checked = [f"`{one.key} <{_CLAIMS}#{anchor(one.key)}>`__ (``{one.title}``)" for one in claims[bound]]
    side = "A lower bound" if bound.statement.side == "lower" else "An upper bound"
    return {
        "Parameters": told,
        "Returns": [
            "float, Fraction or array",
            f"    {side}: the sum of its summands, which ``terms`` names. Exact if all numbers are rationals, of the",
            "    shape that the arguments have together; with ``strict=False`` the pair (value, unmet hypotheses).",
        ],
        "Raises": [
            "AssumptionViolated",
            "    If a hypothesis on the numbers does not hold. All hypotheses:",
            "",
            *(f"    - {_literal(hypothesis.text)}" for hypothesis in bound.hypotheses),
            "ValueError, TypeError",
            "    If an argument is outside its domain.",
        ],
        "Source": [
            f"{bound.statement}{_theory_page(name.partition('.')[0])}.",
            "",
            f"Checked by {', '.join(checked)}." if checked else "No claim compares with this bound as a whole.",
        ],
    }


def _theory_page(paper: str) -> str:
    """Link to the page of a paper, if it has one."""
    exists = (Path(__file__).parent / "theory" / f"{paper}.md").is_file()
    return f"; :doc:`theory page </theory/{paper}>`" if exists else ""


def anchor(key: str) -> str:
    """Place of a claim on the page of all claims.

    >>> anchor("power-of-choice:lemma-b1")
    'claim-power-of-choice-lemma-b1'
    """
    return "claim-" + re.sub(r"[^a-z0-9]+", "-", key)


def _literal(text: str) -> str:
    return f"``{text}``"


def with_sections(lines: list[str], made: dict[str, list[str]]) -> list[str]:
    """Put made sections into a docstring; what it says of its own beside them stays, in numpydoc's order."""
    found = dict(sections_of(lines))
    head = found.pop("")
    example = next((i for i, line in enumerate(head) if line.startswith(">>>")), len(head))
    if "Examples" not in found and example < len(head):
        found["Examples"], head = head[example:], head[:example]
    raised = [line for line in found.pop("Raises", []) if line.strip()]
    source = made.pop("Source")
    found |= made
    if raised:
        found["Notes"] = [*found.get("Notes", []), "", *raised_in_words(raised)]
    out = [*head, "", *source]
    for title in ("Parameters", "Returns", "Raises", "Notes", "References", "Examples"):
        if title in found:
            out += ["", title, "-" * len(title), *found.pop(title)]
    return out


def raised_in_words(lines: list[str]) -> list[str]:
    """Turn entries of a section ``Raises`` into a paragraph."""
    return [f"Raises ``{line}``:" if line[:1].strip() else line.strip() for line in lines]


def complete(_: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:  # noqa: ARG001
    """Complete a docstring before numpydoc reads it."""
    if what not in ("function", "class", "method"):
        return
    bound = value in _known()[0] if what == "function" else False
    lines[:] = with_sections(lines, of_bound(value)) if bound else with_types(lines, annotations_of(value))


def setup(app: sphinx.application.Sphinx) -> dict[str, bool]:
    """Come before numpydoc."""
    app.connect("autodoc-process-docstring", complete, priority=400)
    return {"parallel_read_safe": True}
