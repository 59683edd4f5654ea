"""Names in exported Coq files, and the part of the problem language that has a formal statement."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from fedtheory._storage.files import as_path
from fedtheory._support.wording import truncate
from fedtheory.formal import FOLDER, FOUNDATION

_KEYWORDS = """
    _ Axiom CoFixpoint Definition Fixpoint Hypothesis IF Parameter Prop SProp Set Theorem Type Variable as at by cofix
    do else end exists exists2 fix for forall fun if in let match mod of return then using where with"""
_STANDARD = """
    Forall_cons Forall_nil N Q R Rle_refl Rle_trans Rmin Rmin_l Rmin_r Rminus_le Rmult_0_r Rmult_le_reg_l
    Rmult_lt_reg_l Z nat nth proj1 proj2"""
_BOUND = "V e i k p small val vec z"
"""Keywords of Coq, names of its standard library in exported files, and names that every file binds."""
_NUMBERED = re.compile(r"[dehkt]\d+")
"""Names of hypotheses, their consequences, and the checker's expressions."""
_DEFINED = re.compile(
    r"\b(?:Definition|Lemma|Theorem|Corollary|Fixpoint|Record|Inductive|Ltac)\s+(\w+)|(?:[|;{]|:=)\s*(\w\w+)(?= ?[:(|])"
)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,59}", re.ASCII)

OF_FUNCTION = (
    "{}", "grad_{}", "dom_{}", "{}_above", "{}_class", "{}_lipschitz", "{}_pairs", "{}_polyak", "{}_upper",
)  # fmt: skip
"""Names that statements and proofs make from the name of a function."""

_OPERATIONS = """
    point,gradient,proximal,minimizer,local minimizer,stationary point,line search,linear minimizer,inexact gradient,
    deviation,compressed,root,noise"""
VERBS = frozenset(one.strip() for one in _OPERATIONS.split(","))
"""Operations that have a formal statement, or are rejected by ``Statement``."""


@cache
def reserved() -> frozenset[str]:
    """Return Coq's keywords and the names that statements and proofs use, which cannot be names of points."""
    texts = [(FOLDER / f"{file}.v").read_text(encoding="utf-8") for file in FOUNDATION]
    defined = (name for text in texts for pair in _DEFINED.findall(text) for name in pair if name)
    return frozenset([*_KEYWORDS.split(), *_STANDARD.split(), *_BOUND.split(), *defined])


@cache
def _modules() -> frozenset[str]:
    """Return the names of the files of Coq's standard library and of this library."""
    standard = (FOLDER / "standard_library.txt").read_text(encoding="utf-8")
    return frozenset([*standard.split(), *(file.stem for file in FOLDER.glob("*.v"))])


def identifier(name: str, taken: set[str], made: Sequence[str] = ("{}",)) -> str:
    """Return an identifier of Coq that resembles a name and is not taken, and take it with the names made from it."""
    plain = re.sub(r"\W", _in_words, name, flags=re.ASCII)
    plain = plain if plain[:1].isalpha() else f"x{plain}"
    for number in itertools.count(1):
        found = plain if number == 1 else f"{plain}_{number}"
        names = {form.format(found) for form in made}
        if not (names & taken or names & reserved() or any(map(_NUMBERED.fullmatch, names))):
            taken |= names
            return found
    raise AssertionError


def _in_words(letter: re.Match[str]) -> str:
    return {"*": "s", "'": "p"}.get(letter[0], "_" if letter[0].isascii() else f"u{ord(letter[0]):x}")


@cache
def constants(names: tuple[str, ...]) -> dict[str, str]:
    """Return the identifiers of named constants."""
    taken: set[str] = set()
    return {name: identifier(name, taken) for name in names}


def theorem_names(name: str, count: int) -> list[str]:
    """Return names of theorems, numbered if there are several."""
    if not _NAME.fullmatch(str(name)) or name in reserved():
        message = f"a theorem must be named by a letter, then letters, digits and _ (60 at most), got {truncate(name)}"
        raise ValueError(message)
    return [name] if count == 1 else [f"{name}_{number}" for number in range(1, count + 1)]


def new_file(path: str | Path) -> Path:
    """Return the path of a new Coq file; raise ValueError if Coq cannot use its name or has a module of that name."""
    target = as_path("path", path)
    if target.suffix != ".v" or target.exists():
        message = f"path must be a new file that ends in .v, got {truncate(str(target))}"
        raise ValueError(message)
    stem, taken = target.stem, {*_KEYWORDS.split(), *_modules()}
    if stem in taken or not _NAME.fullmatch(stem):
        message = (
            f"a file must have a name for Coq, such as {identifier(stem[:50], taken)}.v, got {truncate(target.name)}"
        )
        raise ValueError(message)
    return target


class NotStated(ValueError):
    """Exception for a problem without a formal statement; names the part that is missing."""

    def __init__(self, what: str) -> None:
        super().__init__(f"a formal theorem must be about what is stated and proved formally, got {what}")
