"""Everything that can be named: claims by key and bounds by name, found by scanning the open packages."""

import difflib
import fnmatch
import json
from collections.abc import Iterable
from importlib.resources import files

from fedtheory import bounds, claims
from fedtheory._discover import members
from fedtheory.paper import Bound, is_bound
from fedtheory.verification.claims import Claim

__all__ = ["close_to", "known_bounds", "known_claims", "known_tapes", "select_claims"]


def known_claims() -> dict[str, Claim]:
    """All claims, by key.

    Raises
    ------
    ValueError
        If two claims have the same key.
    """
    found: dict[str, Claim] = {}
    for _, claim in members(claims, lambda value: isinstance(value, Claim)):
        if found.setdefault(claim.key, claim) is not claim:
            message = f"claim keys must be unique, got {claim.key!r} twice"
            raise ValueError(message)
    return found


def known_tapes() -> dict[str, tuple[float, ...]]:
    """Tapes of the worst known instances of inequalities, by key of the claim, as long searches found them."""
    text = files(claims).joinpath("worst_tapes.json").read_text(encoding="utf-8")
    return {key: tuple(tape) for key, tape in json.loads(text).items()}


def known_bounds() -> dict[str, Bound]:
    """All bounds, by ``paper.function``.

    >>> known_bounds()["power_of_choice.one_step"].statement.number
    'Appendix C'
    """
    found: dict[str, Bound] = {}
    for name, bound in members(bounds, is_bound):
        paper, *_, function = name.removeprefix(f"{bounds.__name__}.").split(".")
        found[f"{paper}.{function}"] = bound
    return dict(sorted(found.items()))


def select_claims(keys: str | Iterable[str] | None = None) -> list[Claim]:
    """Claims that keys, prefixes or patterns name; all of them by default. A full key names that claim alone.

    Raises
    ------
    ValueError
        If a key names no claim.
    """
    known = known_claims()
    if keys is None:
        return list(known.values())
    chosen: dict[str, Claim] = {}
    for key in [keys] if isinstance(keys, str) else keys:
        matching = [name for name in known if name.startswith(key) or fnmatch.fnmatchcase(name, key)]
        if not matching:
            message = f"keys must name claims, got {key!r}{close_to(key, known)}"
            raise ValueError(message)
        chosen.update({name: known[name] for name in ([key] if key in known else matching)})
    return list(chosen.values())


def close_to(name: str, known: Iterable[str]) -> str:
    """Say which known names are close to one that is not.

    >>> close_to("power-of-choice:lema-b1", ["power-of-choice:lemma-b1"])
    ' (close: power-of-choice:lemma-b1)'
    """
    near = difflib.get_close_matches(name, list(known), n=3, cutoff=0.5)
    return f" (close: {', '.join(near)})" if near else ""
