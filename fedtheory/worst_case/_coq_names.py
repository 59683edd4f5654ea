"""Reserved words of Coq, and the part of the problem language that has a formal statement."""

from __future__ import annotations

import re
from functools import cache

from fedtheory.formal import FOLDER, FOUNDATION

__all__: list[str] = []

_WORDS = """
    as at cofix do else end exists exists2 fix for forall fun if IF in let match mod of Prop return Set SProp then Type
    using where with vec val nth R V Q Z N nat I Rmin Rmin_l Rmin_r Rle_trans Rle_refl Rminus_le Forall_cons
    Forall_nil i k p z"""
_DEFINED = re.compile(
    r"\b(?:Definition|Lemma|Theorem|Corollary|Fixpoint|Record|Inductive|Ltac)\s+(\w+)|[|;{]\s*(\w\w+) ?[:(|]"
)


_OPERATIONS = """
    point,gradient,proximal,minimizer,local minimizer,stationary point,line search,linear minimizer,inexact gradient,
    deviation,compressed,root,noise"""
CLASSES = frozenset(("mu", "L", "lipschitz", "indicator", "diameter", "polyak"))
VERBS = frozenset(one.strip() for one in _OPERATIONS.split(","))
"""Hypotheses about functions, and operations, that have a formal statement or are rejected below."""


@cache
def reserved() -> frozenset[str]:
    """Return Coq's keywords and the names that statements and proofs use, which cannot be names of points."""
    texts = [(FOLDER / f"{file}.v").read_text(encoding="utf-8") for file in FOUNDATION]
    return frozenset([*_WORDS.split(), *(name for text in texts for pair in _DEFINED.findall(text) for name in pair)])


class NotStated(ValueError):
    """Exception for a problem without a formal statement; names the part that is missing."""

    def __init__(self, what: str) -> None:
        super().__init__(f"a formal theorem must be about what is stated and proved formally, got {what}")
