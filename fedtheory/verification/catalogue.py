"""Everything that can be named: claims by key and bounds by name, found by scanning the open packages."""

import difflib
import fnmatch
import json
import re
from collections.abc import Iterable
from importlib.resources import files

from fedtheory import bounds, claims
from fedtheory._support import validate
from fedtheory._support.discover import members
from fedtheory.theorem.paper import Bound, is_bound
from fedtheory.verification.claims import KINDS, Claim

__all__ = ["close_to", "known_bounds", "known_claims", "known_tapes", "matching", "one_claim", "select_claims"]


def known_claims() -> dict[str, Claim]:
    """All claims, by key.

    Returns
    -------
    dict[str, Claim]
        In the order of the modules.

    Raises
    ------
    ValueError
        If two claims have the same key.

    Examples
    --------
    >>> known_claims()["power-of-choice:lemma-b1"].kind
    'inequality'
    """
    found: dict[str, Claim] = {}
    for _, claim in members(claims, lambda value: isinstance(value, Claim)):
        if found.setdefault(claim.key, claim) is not claim:
            message = f"claim keys must be unique, got {claim.key!r} twice"
            raise ValueError(message)
    return found


def known_tapes() -> dict[str, tuple[float, ...]]:
    """Tapes of the worst known instances of inequalities, by key of the claim, as long searches found them.

    Returns
    -------
    dict[str, tuple[float, ...]]
        Random numbers between 0 and 1, in the order in which a check reads them.

    Examples
    --------
    >>> all(0 <= number < 1 for tape in known_tapes().values() for number in tape)
    True
    """
    text = files(claims).joinpath("worst_tapes.json").read_text(encoding="utf-8")
    return {key: tuple(tape) for key, tape in json.loads(text).items()}


def known_bounds() -> dict[str, Bound]:
    """All bounds, by ``paper.function``.

    Returns
    -------
    dict[str, Bound]
        Sorted by name.

    Examples
    --------
    >>> known_bounds()["power_of_choice.one_step"].statement.number
    'Appendix C'
    """
    found: dict[str, Bound] = {}
    for name, bound in members(bounds, is_bound):
        paper, *_, function = name.removeprefix(f"{bounds.__name__}.").split(".")
        found[f"{paper}.{function}"] = bound
    return dict(sorted(found.items()))


def select_claims(
    keys: str | Iterable[str] | None = None,
    paper: str | None = None,
    kind: str | None = None,
    among: dict[str, Claim] | None = None,
) -> list[Claim]:
    """Claims that keys, prefixes or patterns name; all of them by default. A full key names that claim alone.

    Capitals and small letters are the same. A paper, by its key, and a kind leave only their claims. The package's
    claims are meant, unless others are given by key to choose ``among``.

    Parameters
    ----------
    keys
        Keys, beginnings or patterns; one or several.
    paper
        The key of a paper.
    kind
        One of ``KINDS``, as ``inequality``, ``erratum`` or ``refuted conjecture``.
    among
        Claims by key.

    Returns
    -------
    list[Claim]
        At least one, each once.

    Raises
    ------
    ValueError
        If a key names no claim, there is no such paper or kind, or no claim is left.

    Examples
    --------
    >>> {claim.statement.paper.key for claim in select_claims(paper="greedyfed")}
    {'greedyfed'}
    """
    known = known_claims() if among is None else among
    named = _named(known, keys)
    if paper is not None:
        validate.choice("paper", paper, tuple(sorted({claim.statement.paper.key for claim in known.values()})))
    if kind is not None:
        validate.choice("kind", kind, KINDS)
    chosen = [claim for claim in named if paper in (None, claim.statement.paper.key) and kind in (None, claim.kind)]
    if not chosen:
        message = f"keys, paper and kind must leave a claim, got {len(named)} claims, none of {paper} and {kind}"
        raise ValueError(message)
    return chosen


def _named(known: dict[str, Claim], keys: str | Iterable[str] | None) -> list[Claim]:
    if keys is None:
        return list(known.values())
    chosen: dict[str, Claim] = {}
    for key in [keys] if isinstance(keys, str) else keys:
        named = matching(key, known)
        if not named:
            message = f"keys must name claims, got {key!r}{close_to(key, known)}"
            raise ValueError(message)
        chosen.update({name: known[name] for name in named})
    return list(chosen.values())


def one_claim(key: str, among: dict[str, Claim] | None = None) -> Claim:
    """Return the one claim that a key, its beginning or a pattern names, ``among`` the package's or those given.

    Parameters
    ----------
    key
        A key, its beginning, or a pattern.
    among
        Claims by key.

    Returns
    -------
    Claim
        The claim.

    Raises
    ------
    ValueError
        If it names none, or several.

    Examples
    --------
    >>> one_claim("POWER-OF-CHOICE:lemma-b1").key
    'power-of-choice:lemma-b1'
    """
    named = select_claims(key, among=among)
    if len(named) > 1:
        message = f"key must name one claim, got {key!r}, which may be {', '.join(claim.key for claim in named[:3])}"
        raise ValueError(message)
    return named[0]


def matching(key: str, known: Iterable[str]) -> list[str]:
    """Known names that a name, a prefix or a pattern stands for, without regard to case; a full name stands for itself.

    Parameters
    ----------
    key
        A name, its beginning, or a pattern with ``*``.
    known
        Names that there are.

    Returns
    -------
    list[str]
        In the order of the known ones.

    Examples
    --------
    >>> matching("A:LEMMA-1", ["a:lemma-1", "a:lemma-12"]), matching("*12", ["a:lemma-1", "a:lemma-12"])
    (['a:lemma-1'], ['a:lemma-12'])
    """
    folded, wanted = {name: name.casefold() for name in known}, key.casefold()
    same = [name for name, text in folded.items() if text == wanted]
    return same or [
        name for name, text in folded.items() if text.startswith(wanted) or fnmatch.fnmatchcase(text, wanted)
    ]


def close_to(name: str, known: Iterable[str]) -> str:
    """Say which known names are close to one that is not: they contain it, or differ by a slip.

    Only what tells names apart is compared: not the dashes of options, nor the paper where it is right.

    Parameters
    ----------
    name
        What was asked for.
    known
        Names that there are.

    Returns
    -------
    str
        At most three names in parentheses, or nothing.

    Examples
    --------
    >>> close_to("power-of-choice:lema-b1", ["power-of-choice:lemma-b1", "power-of-choice:theorem-31"])
    ' (close: power-of-choice:lemma-b1)'
    >>> close_to("lemma-b1", ["power-of-choice:lemma-b1"]), close_to("--l", ["--L"]), close_to("--foo", ["--L"])
    (' (close: power-of-choice:lemma-b1)', ' (close: --L)', '')
    """
    wanted = name.lstrip("-").casefold()
    plain = {other.lstrip("-").casefold(): other for other in known}
    paper = re.match(r".*[:.]|", wanted)[0]  # type: ignore[index]
    start = len(paper) if any(other.startswith(paper) for other in plain) else 0
    tails = {text[start:]: other for text, other in plain.items() if text.startswith(paper[:start])}
    holding = [other for text, other in tails.items() if len(wanted) > 2 and wanted[start:] in text]
    near = [tails[text] for text in difflib.get_close_matches(wanted[start:], list(tails), n=3, cutoff=0.6)]
    found = list(dict.fromkeys([*near, *holding]))[:3]
    return f" (close: {', '.join(found)})" if found else ""
