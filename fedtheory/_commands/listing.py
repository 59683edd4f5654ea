"""``list``: the claims and the bounds."""

import argparse
from collections.abc import Mapping
from typing import Any

from fedtheory._commands.documents import document, print_json
from fedtheory._commands.origins import known_things
from fedtheory._commands.refusals import program, refuse
from fedtheory._support.console import say, show_table
from fedtheory.theorem.paper import Bound
from fedtheory.verification import catalogue
from fedtheory.verification.claims import Claim
from fedtheory.verification.own_claims import claim_packages

__all__ = ["list_all"]


def list_all(arguments: argparse.Namespace) -> int:
    """List what a pattern, or a part of a key or title, names."""
    pattern, (known, all_bounds) = arguments.pattern, known_things(arguments)
    claims, bounds = _claims(pattern, known), _bounds(pattern, all_bounds)
    if not claims and not bounds:
        close = catalogue.close_to(pattern, [*known, *all_bounds])
        refuse(f"PATTERN must name claims or bounds, got {pattern!r}{close}")
    elsewhere = claim_packages() if not pattern and arguments.source is None else {}
    if arguments.json:
        print_json(document(claims=claims, bounds=bounds, elsewhere=elsewhere))
        return 0
    marked = [{**row, "printed form differs": "yes" if row["printed form differs"] else ""} for row in bounds]
    for rows in filter(None, (claims, marked)):
        show_table(rows)
    # Named, not imported: one that is broken must not keep the others from being listed.
    say(*(f"claims of {value}: {program()} list --from {name}" for name, value in elsewhere.items()))
    return 0


def _claims(pattern: str, known: Mapping[str, Claim]) -> list[dict[str, Any]]:
    return [
        {"claim": claim.key, "kind": claim.kind, "expected": claim.expected, "title": claim.title}
        for key, claim in known.items()
        if _named(pattern, key, claim.title)
    ]


def _bounds(pattern: str, known: Mapping[str, Bound]) -> list[dict[str, Any]]:
    return [
        {"bound": name, "source": str(bound.statement), "printed form differs": bound.printed is not bound}
        for name, bound in known.items()
        if _named(pattern, name, str(bound.statement))
    ]


def _named(pattern: str, key: str, text: str) -> bool:
    part = pattern.casefold()
    return part in f"{key} {text}".casefold() or bool(catalogue.matching(pattern, [key]))
