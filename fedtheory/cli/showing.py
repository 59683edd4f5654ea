"""``list``: the claims and the bounds; ``show``: claims with their verdicts, and bounds with their formulas."""

import argparse
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fedtheory._support.console import say, show_table
from fedtheory._support.wording import suggest
from fedtheory.claims import catalogue
from fedtheory.cli.documents import write_pairs
from fedtheory.cli.hunting import complain, finding_code, instance_pairs
from fedtheory.cli.refusals import known_in, program, refuse, refuse_below
from fedtheory.formal import PRINTED
from fedtheory.theorem.bound import Bound
from fedtheory.theorem.claims import Claim
from fedtheory.theorem.findings import verdict_text
from fedtheory.theorem.letters import inequality
from fedtheory.theorem.paper import BASES
from fedtheory.theorem.setting import SETTINGS, obstacle, setting_of
from fedtheory.theorem.symbols import Symbol
from fedtheory.verification.instances import reproduce
from fedtheory.verification.records import rows
from fedtheory.verification.renderings import description
from fedtheory.verification.verdicts import Verdict, examine

__all__ = ["list_all", "show"]

Pairs = list[tuple[str, str]]

_ENDING = re.compile(r"(ations?|ating|ates?|ities|ity|ions?|ings?|ed|es|s)$")


def list_all(arguments: argparse.Namespace) -> int:
    """List the claims and bounds that match a pattern, or a part of a key or title."""
    pattern, (known, all_bounds) = " ".join(arguments.pattern), known_in(arguments.source)
    if arguments.setting:
        return _list_for(arguments.setting, all_bounds)
    claims, bounds = _claims(pattern, known), _bounds(pattern, all_bounds)
    if not claims and not bounds:
        close = suggest(pattern, [*known, *all_bounds])
        refuse(f"PATTERN must name claims or bounds, got {pattern!r}{close}")
    elsewhere = catalogue.claim_packages() if not pattern and arguments.source is None else {}
    for table in filter(None, (bounds, claims)):
        show_table(table)
    # Listed by name without import, so that a broken source does not prevent the list.
    say(*(f"claims of {value}: {program()} list --from {name}" for name, value in elsewhere.items()))
    return 0


def _list_for(words: list[str], bounds: Mapping[str, Bound]) -> int:
    """List all bounds with a verdict for a setting: those that cover it first."""
    known = {word.replace("-", "").replace(" ", ""): word for word in SETTINGS}
    asked = []
    for word in words:
        key = re.sub(r"[-_ ]", "", word.casefold())
        if key not in known:
            refuse(f"--for must be followed by words among {', '.join(map(repr, SETTINGS))}, got {word!r}")
        asked.append(known[key])
    rows = []
    for name, bound in bounds.items():
        reason, setting = obstacle(bound, asked), setting_of(bound)
        needs = "bounded gradients" if setting.bounded_gradients else ""
        verdict = "does not apply" if reason else "applies"
        rows.append({"bound": name, "verdict": verdict, "of": setting.horizon, "needs": needs, "reason": reason or ""})
    rows.sort(key=lambda row: (row["verdict"], row["of"] != "whole run"))
    show_table(rows)
    return 0


def _claims(pattern: str, known: Mapping[str, Claim]) -> list[dict[str, Any]]:
    named = {key: claim for key, claim in known.items() if _named(pattern, key, claim.title)}
    return [
        {
            "claim": claim.key,
            "title": claim.title,
            "expected": verdict_text(claim.expected, as_expected=True),
            "kind": claim.kind,
        }
        for key, claim in sorted(named.items(), key=lambda item: _rank(pattern, _as_number(item[0]), item[1].title))
    ]


def _bounds(pattern: str, known: Mapping[str, Bound]) -> list[dict[str, Any]]:
    named = {name: bound for name, bound in known.items() if _named(pattern, name, str(bound.statement), _about(bound))}
    return [
        {
            "bound": name,
            "left side": "" if bound.left is None else bound.left.description,
            "rests on": bound.statement.basis,
            "source": str(bound.statement),
            "printed form differs": "" if bound.printed is bound else "yes",
        }
        for name, bound in sorted(
            named.items(), key=lambda item: _rank(pattern, _number(item[1]), f"{item[0]} {item[1].statement}")
        )
    ]


def _number(bound: Bound) -> str:
    """Return the number of a printed statement, such as Theorem 3.1; empty for a result of this project."""
    return "" if bound.statement.basis == "own" else bound.statement.number


def _as_number(key: str) -> str:
    """Return the number in the key of a claim: ``theorem 3.1`` for ``power-of-choice:theorem-3.1``."""
    return key.partition(":")[2].replace("-", " ")


def _rank(pattern: str, number: str, text: str) -> int:
    """Return 0 for the number or its last word, 1 for a text that contains all of the pattern as words, and else 2."""
    part, number = pattern.casefold(), number.casefold()
    if part in (number, number.split(" ")[-1]):
        return 0
    return 1 if re.search(rf"(?<![\w.]){re.escape(part)}(?!\w|\.\w)", text.casefold()) else 2


def _about(bound: Bound) -> str:
    """Title of the paper, setting and hypotheses of a bound, in which words are searched."""
    setting = setting_of(bound)
    words = f"{setting.convexity} functions, {setting.participation} participation, {setting.gradients} gradients"
    title = (bound.__doc__ or "").partition("\n")[0]
    assumed = "; ".join(each.text for each in bound.hypotheses)
    return f"{title} {bound.statement.topic.title} {words} {setting.selection} {setting.horizon} {assumed}"


def _named(pattern: str, key: str, text: str, more: str = "") -> bool:
    part = pattern.casefold()
    if part in f"{key} {text}".casefold() or catalogue.matching(pattern, [key]):
        return True
    known = _stems(f"{key} {text} {more}")
    return all(any(word.startswith(stem) for word in known) for stem in _stems(pattern))


def _stems(text: str) -> set[str]:
    """Return the words of a text without hyphens and common endings."""
    words = re.findall(r"[a-z0-9]+", re.sub(r"[-_]", "", text.casefold()) + " " + re.sub(r"[-_]", " ", text.casefold()))
    return {_ENDING.sub("", word) if len(word) > 5 else word for word in words}


def show(arguments: argparse.Namespace) -> int:
    """Print what matches a key or a prefix, or one instance of a claim; 1 if a verdict is not the expected one."""
    key = arguments.key
    refuse_below(arguments, seed=0, instance=0)
    claims, bounds = known_in(arguments.source)
    named = catalogue.matching(key, [*claims, *bounds])
    named = named or [name for name, bound in bounds.items() if key and _number(bound).casefold() == key.casefold()]
    if not named:
        refuse(f"KEY must be a claim or a bound, got {key!r}{suggest(key, [*claims, *bounds])}")
    if arguments.latex:
        return _latex({name: bounds[name] if name in bounds else claims[name].bound for name in named})
    if arguments.instance is not None:
        if len(named) > 1 or named[0] not in claims:
            refuse(f"--instance needs the key of one claim, got {key!r}")
        return _show_instance(claims[named[0]], arguments)
    verdicts = {name: examine(claims[name], rng=arguments.seed) for name in named if name in claims}
    _write(_claim(verdicts[name]) if name in verdicts else _bound(name, bounds[name]) for name in named)
    return 0 if all(verdict.as_expected for verdict in verdicts.values()) else 1


def _show_instance(claim: Claim, arguments: argparse.Namespace) -> int:
    try:
        finding = reproduce(claim, arguments.seed, arguments.instance)
    except Exception as error:  # a check may raise anything
        return complain(error)
    write_pairs(instance_pairs(claim, finding))
    return finding_code(claim, finding)


def _write(cards: Iterable[Pairs]) -> None:
    for index, card in enumerate(cards):
        say("", end="\n" if index else "")
        write_pairs(card)


def _latex(bounds: dict[str, Bound | None]) -> int:
    formulas = [inequality(bound) for bound in bounds.values() if bound is not None]
    if not formulas:
        refuse(f"{next(iter(bounds))} has no formula: it compares with no bound")
    say(*formulas)
    return 0


def _claim(verdict: Verdict) -> Pairs:
    [row] = rows([verdict])
    formulas = {} if verdict.claim.bound is None else _formulas(verdict.claim.bound)
    return [("claim", row["key"]), ("title", row["title"]), *formulas.items(), *description(row)]


def _bound(name: str, bound: Bound) -> Pairs:
    proof = bound.statement.formal_proof
    return [
        ("name", name),
        ("source", str(bound.statement)),
        ("rests on", BASES[bound.statement.basis]),
        ("left side", "not declared" if bound.left is None else bound.left.description),
        *(("assumes", hypothesis.text) for hypothesis in bound.hypotheses),
        *(("implies", consequence.text) for consequence in bound.consequences),
        *([("assumes in Coq", proof.assumes)] if proof and proof.assumes else []),
        *_formulas(bound).items(),
        *(("parameter", _parameter(symbol, bound)) for symbol in bound.symbols.values()),
        *([("print in Coq", str(PRINTED[name]))] if name in PRINTED else []),
        *(("checked by", key) for key in _checks(bound)),
    ]


def _parameter(symbol: Symbol, bound: Bound) -> str:
    kind = symbol.kind if _is_required(symbol.name, bound) else f"{symbol.kind}, optional"
    return f"{symbol.name} ({kind}): {symbol.meaning}".replace("``", "").removesuffix(": ")


def _is_required(name: str, bound: Bound) -> bool:
    parameter = inspect.signature(bound).parameters[name]
    return parameter.default is parameter.empty


def _formulas(bound: Bound) -> dict[str, str]:
    printed = {} if bound.printed is bound else {"printed as": bound.printed.inequality}
    return {"bound": bound.inequality, **printed}


def _checks(bound: Bound) -> Iterator[str]:
    known = catalogue.known_claims()
    yield from (key for key, claim in known.items() if claim.bound in (bound, bound.printed))
