"""``show``: claims with their verdicts, and bounds with their formulas."""

import argparse
from collections.abc import Iterable, Iterator
from typing import Any

from fedtheory._commands.arguments import needed
from fedtheory._commands.documents import document, print_json
from fedtheory._commands.origins import known_things
from fedtheory._commands.refusals import refuse
from fedtheory._support.console import say
from fedtheory.theorem._letters import formula
from fedtheory.theorem.paper import Bound
from fedtheory.verification import catalogue
from fedtheory.verification.claims import Claim
from fedtheory.verification.conclusions import Verdict
from fedtheory.verification.plain_rows import numeric, rows
from fedtheory.verification.renderings import description
from fedtheory.verification.verdicts import examine

__all__ = ["show", "write_pairs"]

Pairs = list[tuple[str, str]]


def show(arguments: argparse.Namespace) -> int:
    """Show what a key or a prefix names; 1 if a verdict is not the expected one."""
    key = arguments.key
    claims, bounds = known_things(arguments)
    named = catalogue.matching(key, [*claims, *bounds])
    if not named:
        refuse(f"KEY must be a claim or a bound, got {key!r}{catalogue.close_to(key, [*claims, *bounds])}")
    if arguments.latex:
        return _latex({name: bounds[name] if name in bounds else claims[name].bound for name in named})
    tapes = catalogue.known_tapes()
    verdicts = {name: examine(claims[name], tape=tapes.get(name)) for name in named if name in claims}
    if arguments.json:
        print_json(_document(verdicts, [name for name in named if name in bounds]))
    else:
        _write(_claim(verdicts[name]) if name in verdicts else _bound(name, bounds[name]) for name in named)
    return 0 if all(verdict.as_expected for verdict in verdicts.values()) else 1


def _write(cards: Iterable[Pairs]) -> None:
    for index, card in enumerate(cards):
        say("", end="\n" if index else "")
        write_pairs(card)


def write_pairs(pairs: Iterable[tuple[str, str]]) -> None:
    """Write names and texts in two columns; a name is not repeated."""
    previous = ""
    for name, text in pairs:
        say(f"{'' if name == previous else name:<17} {text}".rstrip())
        previous = name


def _latex(bounds: dict[str, Bound | None]) -> int:
    formulas = [formula(bound) for bound in bounds.values() if bound is not None]
    if not formulas:
        refuse(f"{next(iter(bounds))} has no formula: it compares with no bound")
    say(*formulas)
    return 0


def _claim(verdict: Verdict) -> Pairs:
    [row] = rows([verdict])
    bound = verdict.claim.bound
    return [
        ("claim", row["key"]),
        ("title", row["title"]),
        ("kind", row["kind"]),
        ("source", row["source"]),
        *(("assumes", text) for text in row["hypotheses"]),
        *([] if bound is None else _formulas(bound).items()),
        *([("remark", row["remark"])] if row["remark"] else []),
        *description(row),
    ]


def _bound(name: str, bound: Bound) -> Pairs:
    return [
        ("name", name),
        ("source", str(bound.statement)),
        *(("assumes", hypothesis.text) for hypothesis in bound.hypotheses),
        *(("implies", consequence.text) for consequence in bound.consequences),
        *_formulas(bound).items(),
        *(("checked by", key) for key in _checks(bound)),
    ]


def _formulas(bound: Bound) -> dict[str, str]:
    printed = {} if bound.printed is bound else {"printed as": str(bound.printed.symbolic())}
    return {"bound": str(bound.symbolic()), **printed}


def _checks(bound: Bound) -> Iterator[str]:
    known = catalogue.known_claims()
    yield from (key for key, claim in known.items() if claim.bound in (bound, bound.printed))


def _document(verdicts: dict[str, Verdict], names: list[str]) -> dict[str, Any]:
    known = catalogue.known_bounds()
    claims = [{**numeric(row), **_of_bound(verdict.claim)} for verdict in verdicts.values() for row in rows([verdict])]
    return document(seed=0, claims=claims, bounds=[_data(name, known) for name in names])


def _of_bound(claim: Claim) -> dict[str, Any]:
    return {} if claim.bound is None else {"formula": str(claim.bound.symbolic())}


def _data(name: str, known: dict[str, Bound]) -> dict[str, Any]:
    bound = known[name]
    return {
        "name": name,
        "source": str(bound.statement),
        "assumes": [hypothesis.text for hypothesis in bound.hypotheses],
        "implies": [consequence.text for consequence in bound.consequences],
        "parameters": [
            {
                "name": symbol.name,
                "meaning": symbol.meaning,
                "domain": str(symbol.domain),
                "unit": symbol.unit,
                "required": symbol.name in needed(bound),
            }
            for symbol in bound.symbols.values()
        ],
        "formula": str(bound.symbolic()),
        "latex": formula(bound),
        "printed_formula": None if bound.printed is bound else str(bound.printed.symbolic()),
        "checked_by": list(_checks(bound)),
    }
