"""Files and texts made from a worst case: certificates, theorems in Coq and readable proofs."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fedtheory._storage.files import place
from fedtheory.worst_case._certificate_files import case_document, document_of
from fedtheory.worst_case._coq_names import new_file
from fedtheory.worst_case._readable_proofs import proof_of, shortened
from fedtheory.worst_case.formal_theorems import file_of

__all__ = ["case_document", "proof_of", "save", "shortened", "write_coq"]


def save(path: str | Path, cases: Iterable[Any]) -> None:
    """Write a certificate."""
    place(Path(path), document_of(cases).encode())


def write_coq(path: str | Path, name: str, cases: Iterable[Any]) -> None:
    """Write the theorem of a certificate in Coq to a new file."""
    target = new_file(path)
    place(target, file_of(list(cases), name).encode(), new=True)
