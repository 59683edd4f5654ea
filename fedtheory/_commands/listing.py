"""``list``: the claims and the bounds."""

from typing import Any

from fedtheory._commands.documents import document, print_json
from fedtheory._commands.refusals import refuse
from fedtheory._console import show_table
from fedtheory.verification import catalogue

__all__ = ["list_all"]


def list_all(pattern: str, *, as_json: bool) -> int:
    """List what a pattern, or a part of a key or title, names."""
    claims, bounds = _claims(pattern), _bounds(pattern)
    if not claims and not bounds:
        known = [*catalogue.known_claims(), *catalogue.known_bounds()]
        refuse(f"PATTERN must name claims or bounds, got {pattern!r}{catalogue.close_to(pattern, known)}")
    if as_json:
        print_json(document(claims=claims, bounds=bounds))
        return 0
    marked = [{**row, "printed form differs": "yes" if row["printed form differs"] else ""} for row in bounds]
    for rows in filter(None, (claims, marked)):
        show_table(rows)
    return 0


def _claims(pattern: str) -> list[dict[str, Any]]:
    known = catalogue.known_claims()
    return [
        {"claim": claim.key, "kind": claim.kind, "expected": claim.expected, "title": claim.title}
        for key, claim in known.items()
        if _named(pattern, key, claim.title)
    ]


def _bounds(pattern: str) -> list[dict[str, Any]]:
    return [
        {"bound": name, "source": str(bound.statement), "printed form differs": bound.printed is not bound}
        for name, bound in catalogue.known_bounds().items()
        if _named(pattern, name, str(bound.statement))
    ]


def _named(pattern: str, key: str, text: str) -> bool:
    part = pattern.casefold()
    return part in f"{key} {text}".casefold() or bool(catalogue.matching(pattern, [key]))
