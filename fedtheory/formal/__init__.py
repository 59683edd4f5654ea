"""Theorems proved in Coq, for each bound.

The files ``*.v`` in this folder contain the proofs. `PROVED` names the file of the theorem about a bound, `REFUTED`
that of a proof that a bound is false as stated, and `PRINTED` the theorems about printed forms. The proofs need only
Coq's standard library.
"""

from typing import TYPE_CHECKING

from fedtheory._support import lazy
from fedtheory.formal.theorems import (
    AXIOMS,
    FOLDER,
    FOUNDATION,
    PRINTED,
    PROVED,
    REFUTED,
    PrintedForm,
    Theorem,
    proof_of,
)

__all__ = ["AXIOMS", "FOLDER", "FOUNDATION", "PRINTED", "PROVED", "REFUTED", "PrintedForm", "Theorem", "proof_of"]

if not TYPE_CHECKING:  # a type checker would accept any name if it saw __getattr__
    __getattr__ = lazy.unknown_in(__name__)
