"""Domains of the constants of theorems.

A bound validates each argument by its domain before it is evaluated, and SymPy symbols receive its assumptions.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from fedtheory._support import validate


class Domain(NamedTuple):
    """Domain of a constant of a theorem.

    Attributes
    ----------
    check
        Function of the name and the value that returns the validated value or raises an error of one sentence.
    assumptions
        Assumptions of the SymPy symbol, such as ``{"positive": True}``.
    of_run
        Property of a run from which ``fedtheory.exact`` reads the constant; empty if the user must state it. Symbols of
        the glossary are read by their own names.
    """

    check: Callable[[str, Any], Any]
    assumptions: dict[str, bool]
    is_sequence: bool = False
    of_run: str = ""

    def __str__(self) -> str:
        """Return the domain in words, such as ``number >= 0``."""
        if self.is_sequence:
            return "sequence (in Python only)"
        low = ">" if self.assumptions.get("positive") else ">=" if self.assumptions.get("nonnegative") else ""
        if self.assumptions.get("integer"):
            return f"whole number >= {int(low == '>')}"
        return f"number {low} 0" if low else "number"


def _horizons(name: str, value: Any) -> Any:
    return validate.counts(name, value, low=0)


COUNT = Domain(validate.counts, {"integer": True, "positive": True})
"""Integers from 1."""
HORIZON = Domain(_horizons, {"integer": True, "nonnegative": True})
"""Integers from 0."""
POSITIVE = Domain(validate.positive, {"positive": True})
"""Finite numbers above 0."""
NONNEGATIVE = Domain(validate.nonnegative, {"nonnegative": True})
"""Finite numbers from 0."""
REAL = Domain(validate.finite, {"real": True})
"""Finite numbers."""
