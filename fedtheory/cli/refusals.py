"""Refusal of invalid arguments: one line on standard error, and exit code 2."""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import fedtheory as ft
from fedtheory._support.console import warn
from fedtheory._support.wording import suggest

if TYPE_CHECKING:
    from fedtheory.theorem.bound import Bound
    from fedtheory.theorem.claims import Claim

__all__ = ["known_in", "mention_processors", "one_of", "program", "refuse", "refuse_below", "refuse_unless_new"]


def program() -> str:
    """Return the name by which the program was called."""
    return "fedtheory" if Path(sys.argv[0]).stem == "fedtheory" else "python -m fedtheory"


def refuse(message: str) -> NoReturn:
    """Exit with one line and code 2."""
    warn(f"{program()}: error: {' '.join(message.split())}")
    raise SystemExit(2)


def refuse_below(arguments: argparse.Namespace, **least: int) -> None:
    """Refuse options below their smallest values; options that were not given are None."""
    for option, low in least.items():
        value = getattr(arguments, option)
        if value is not None and value < low:
            refuse(f"--{option} must be at least {low}, got {value}")


def mention_processors(started: int) -> None:
    """Warn if there will be more processes than processors."""
    processors = os.cpu_count() or 1
    if started > processors:
        warn(f"warning: --jobs starts {started} processes, and there are {processors} processors")


def known_in(source: str | None) -> "tuple[Mapping[str, Claim], Mapping[str, Bound]]":
    """Return the claims and bounds of a source, or of the package; refuse an invalid source."""
    if source is None:
        return ft.claims.catalogue.known_claims(), ft.verification.known_bounds()
    try:
        return ft.claims.catalogue.contents_of(source)
    except ValueError as error:
        refuse(str(error))


def one_of(name: str, known: Sequence[str], what: str) -> str:
    """Return the only known name that matches a name or a prefix."""
    found = ft.claims.catalogue.matching(name, known)
    if not found:
        refuse(f"NAME must be {what}, got {name!r}{suggest(name, known)}")
    if len(found) > 1:
        others = f", ... {len(found)} in all" if len(found) > 3 else ""
        refuse(f"NAME must be {what}, got {name!r}, which may be {', '.join(found[:3])}{others}")
    return found[0]


def refuse_unless_new(target: Path | None, option: str, *, force: bool) -> None:
    """Refuse an existing file, unless it may be overwritten, and a file in a folder that does not exist."""
    if target is not None and ((target.exists() and not force) or not target.absolute().parent.is_dir()):
        refuse(f"{option} must name a new file in an existing folder (--force overwrites), got {target}")
