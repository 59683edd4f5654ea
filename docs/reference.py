"""Additions to docstrings in the API: types of parameters, and source, parameters and hypotheses of bounds."""

import inspect
import os
import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedtheory.formal import PRINTED
from fedtheory.theorem._docstring import sections_of
from fedtheory.theorem.letters import inequality

if TYPE_CHECKING:
    import sphinx.application

_LISTED = ("Parameters", "Attributes")
_RETURNS = """\
float, Fraction or array
    {side} bound, which is the sum of the summands of ``terms``. Exact if all arguments are rationals; arrays are
    broadcast. With ``strict=False``, the pair (value, unmet hypotheses)."""
_FORMULA = re.compile(r"\.\. math::\n(?: +\S.*\n)+")
# Rows of a table are no targets of Sphinx; pages of the API stand two folders below the root.
_CLAIMS = "/".join([os.pardir, os.pardir, "theory", "claims.html"])


def short_type(annotation: Any) -> str:
    """Return a short form of an annotation, empty for ``Any``.

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
    """Return annotations by the name of a parameter or an attribute."""
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
    """Return the names of bounds, and the claims about each."""
    from fedtheory.verification import known_bounds, known_claims

    bounds = {bound: name for name, bound in known_bounds().items()}
    about: dict[Any, list[Any]] = {bound: [] for bound in bounds}
    for claim in known_claims().values():
        if claim.bound in about:
            about[claim.bound].append(claim)
    return bounds, about


def prepare(_: Any) -> None:
    """Find bounds and claims before the processes that read pages are forked."""
    _known()


def source_of(bound: Any) -> list[str]:
    """Return what a bound bounds in words, its source, and links to the claims that check it."""
    (names, claims), proof = _known(), bound.statement.formal_proof
    left = "not declared" if bound.left is None else bound.left.description
    checked = [f"`{one.key} <{_CLAIMS}#{anchor(one.key)}>`__ (``{one.title}``)" for one in claims[bound]]
    return [
        f"Left side: {left}.",
        "",
        f"{bound.statement}{_theory_page(names[bound].partition('.')[0])}; :ref:`terms and notation <terms>`.",
        "",
        *([f"The theorem in Coq also assumes: {proof.assumes}.", ""] if proof and proof.assumes else []),
        *([f"The printed form in Coq: {PRINTED[names[bound]]}.", ""] if names[bound] in PRINTED else []),
        f"Checked by {', '.join(checked)}." if checked else "No claim compares a value with this bound.",
        "",
    ]


def linked(name: str, bound: Any) -> str:
    """Return the name of a bound in Markdown, with a link to its page."""
    return f"{{py:func}}`{name} <{bound.__module__}.{bound.__name__}>`"


def _theory_page(paper: str) -> str:
    """Link to the page of a paper, if it has one."""
    exists = (Path(__file__).parent / "theory" / f"{paper}.md").is_file()
    return f"; :doc:`theory page </theory/{paper}>`" if exists else ""


def anchor(key: str) -> str:
    """Return the anchor of a claim on the page of all claims.

    >>> anchor("power-of-choice:lemma-b1")
    'claim-power-of-choice-lemma-b1'
    """
    return "claim-" + re.sub(r"[^a-z0-9]+", "-", key)


def of_bound(lines: list[str], bound: Any, source: list[str]) -> list[str]:
    """Return the docstring of a bound, completed by its left side, source, parameters, return value and errors."""
    written = dict(sections_of(lines))
    # The formula of the docstring is the right-hand side.
    head = _FORMULA.sub(
        lambda _: f".. math::\n    {inequality(bound)}\n", "\n".join([*written.pop("", []), ""]), count=1
    )
    sections = {
        "Parameters": list(_parameters(bound.symbols.values())),
        "Returns": _RETURNS.format(side="A lower" if bound.statement.side == "lower" else "An upper").split("\n"),
        "Raises": [*_violations(bound), "ValueError, TypeError", "    If an argument is outside its domain."],
    }
    sections = {**sections, **written, "Parameters": sections["Parameters"]}
    rest = [line for title, body in sections.items() for line in (title, "-" * len(title), *body, "")]
    return [*head.split("\n"), *source, *rest]


def _parameters(symbols: Iterable[Any]) -> Iterator[str]:
    for meaning, group in groupby(symbols, key=lambda one: one.meaning):
        rows = list(group)
        yield f"{', '.join(one.name for one in rows)} : {', '.join(dict.fromkeys(one.kind for one in rows))}"
        if meaning:
            yield f"    {meaning}"


def _violations(bound: Any) -> list[str]:
    assumed = [*bound.hypotheses, *bound.consequences]
    head = ["AssumptionViolated", "    If a hypothesis, or a consequence of the hypotheses, does not hold:", ""]
    return [*head, *(f"    - ``{one.text}``" for one in assumed)] if assumed else []


def complete(_: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:  # noqa: ARG001
    """Complete a docstring before numpydoc reads it."""
    if what not in ("function", "class", "method"):
        return
    bound = value in _known()[0] if what == "function" else False
    lines[:] = of_bound(lines, value, source_of(value)) if bound else with_types(lines, annotations_of(value))


def letters() -> list[str]:
    """Return the lines of the table of all symbols with a letter in some paper."""
    from fedtheory.claims.greedyfed import PAPER as GREEDYFED
    from fedtheory.theorem.symbols import SYMBOLS
    from fedtheory.verification import known_bounds

    used: dict[Any, set[str]] = {GREEDYFED: set()}
    for bound in known_bounds().values():
        used.setdefault(bound.statement.topic, set()).update(bound.symbols)
    papers = sorted(used, key=lambda paper: paper.year)
    own = {paper: {row.name for row in paper.symbols} | used[paper] for paper in papers}
    rows = []
    for name in dict.fromkeys([*SYMBOLS, *(row.name for paper in papers for row in paper.symbols)]):
        there = {paper: paper.glossary[name] for paper in papers if name in own[paper]}
        users: dict[str, list[str]] = {}
        for paper, row in there.items():
            if row.letter:
                users.setdefault(row.letter, []).append(paper.key)
        if users:
            kinds = SYMBOLS[name].meaning if name in SYMBOLS else ""
            meaning = kinds or "; ".join(dict.fromkeys(row.meaning for row in there.values()))
            shared = len(users) == 1
            written = (f"${letter}$" if shared else f"${letter}$ {', '.join(keys)}" for letter, keys in users.items())
            rows.append([f"`{name}`", meaning.replace("``", "`").replace("|", "\\|"), "; ".join(written)])
    heads = ["Name", "Meaning", "Letter (and paper, if papers differ)"]
    # A bar would end a cell of the table.
    return [
        f"| {' | '.join(row)} |".replace(r"$\|", r"$\Vert ").replace(r"\|^2$", r"\Vert^2$")
        for row in [heads, ["---"] * len(heads), *rows]
    ]


def write_letters(_: Any, page: str, source: list[str]) -> None:
    """Put the table where the page of terms has the comment ``% letters``."""
    if page == "terms":
        source[0] = source[0].replace("% letters", "\n".join(letters()))


def setup(app: "sphinx.application.Sphinx") -> dict[str, bool]:
    """Connect the hooks, before numpydoc."""
    app.connect("builder-inited", prepare)
    app.connect("source-read", write_letters)
    app.connect("autodoc-process-docstring", complete, priority=400)
    return {"parallel_read_safe": True}
