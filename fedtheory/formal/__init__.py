"""Theorems proved in Coq, for each bound.

The files ``*.v`` in this folder contain the proofs. `PROVED` names the file of the theorem about a bound, `REFUTED`
that of a proof that a bound is false as stated, and `PRINTED` the theorems about printed forms. The proofs need only
Coq's standard library.

Modules are imported on first use.
"""

from typing import TYPE_CHECKING

from fedtheory._support import lazy

__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    submod_attrs={
        "theorems": [
            "AXIOMS",
            "FOLDER",
            "FOUNDATION",
            "PRINTED",
            "PROVED",
            "REFUTED",
            "PrintedForm",
            "Theorem",
            "proof_of",
        ],
    },
)

if TYPE_CHECKING:
    from fedtheory.formal.theorems import AXIOMS as AXIOMS
    from fedtheory.formal.theorems import FOLDER as FOLDER
    from fedtheory.formal.theorems import FOUNDATION as FOUNDATION
    from fedtheory.formal.theorems import PRINTED as PRINTED
    from fedtheory.formal.theorems import PROVED as PROVED
    from fedtheory.formal.theorems import REFUTED as REFUTED
    from fedtheory.formal.theorems import PrintedForm as PrintedForm
    from fedtheory.formal.theorems import Theorem as Theorem
    from fedtheory.formal.theorems import proof_of as proof_of
