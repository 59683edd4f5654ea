"""For every bound its statement, what the statement rests on, and its form in the library."""

from collections import Counter

from reference import linked

from fedtheory.bounds.catalogue import known_bounds
from fedtheory.theorem.paper import BASES, Statement
from fedtheory.verification.renderings import escaped

HEAD = """\
| Statement | Rests on | Form | Bound |
| --- | --- | --- | --- |
"""


def table() -> str:
    """Return the number of bounds for each basis, and a table for each paper."""
    bounds = known_bounds()
    counts = Counter(bound.statement.basis for bound in bounds.values())
    numbers = "".join(
        f"- {counts[basis]}: {meaning} (*{basis}*)\n" for basis, meaning in BASES.items() if counts[basis]
    )
    papers: dict[str, list[str]] = {}
    seen = set()
    for name, bound in bounds.items():
        paper = bound.statement.topic
        rows = papers.setdefault(f"**{paper.authors} ({paper.year})**, {paper.title}", [])
        rows.append(row(bound.statement, linked(name, bound)))
        if bound.printed is not bound and bound.printed not in seen:
            seen.add(bound.printed)
            rows.append(row(bound.printed.statement, f"`{name}.printed`"))
    tables = (f"{paper}\n\n{HEAD}" + "\n".join(rows) + "\n" for paper, rows in papers.items())
    return f"The {len(bounds)} bounds rest on:\n\n{numbers}\n" + "\n".join(tables)


def row(statement: Statement, bound: str) -> str:
    """Return the line of a statement."""
    cited = ", ".join(filter(None, (statement.number, statement.equation)))
    if statement.related is not None:
        cited += f"; related to {statement.related[1]}"
    return f"| {escaped(cited)} | {BASES[statement.basis]} | {statement.form} | {bound} |"
