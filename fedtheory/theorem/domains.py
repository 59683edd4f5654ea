"""Domains of the constants of theorems.

A bound checks each argument by its domain before anything is computed, and SymPy is told what it may assume.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from fedtheory._support import validate

__all__ = ["COUNT", "HORIZON", "NONNEGATIVE", "POSITIVE", "REAL", "Domain"]


class Domain(NamedTuple):
    """Domain of a constant of a theorem.

    Attributes
    ----------
    check
        Takes the name and the value; returns the clean value, or raises one sentence: what, wanted, got.
    assumptions
        What SymPy may assume of the symbol, as ``{"positive": True}``.
    is_sequence
        Whether it is a sequence, one number for each step, say.
    of_run
        What it is of a run, a property of ``fedtheory.exact``'s description; empty if it can only be given. Symbols of
        the glossary are what their names say without it.

    Examples
    --------
    >>> def at_least_two(name, value):
    ...     number = COUNT.check(name, value)
    ...     if number < 2:
    ...         raise ValueError(f"{name} must be at least 2, got {number}")
    ...     return number
    >>> Domain(at_least_two, {"integer": True, "positive": True}).check("num_layers", 3), str(NONNEGATIVE)
    (3, 'number >= 0')
    """

    check: Callable[[str, Any], Any]
    assumptions: dict[str, bool]
    is_sequence: bool = False
    of_run: str = ""

    def __str__(self) -> str:
        """In words, as ``number >= 0``."""
        if self.is_sequence:
            return "sequence, from Python only"
        low = ">" if self.assumptions.get("positive") else ">=" if self.assumptions.get("nonnegative") else ""
        if self.assumptions.get("integer"):
            return f"whole number >= {int(low == '>')}"
        return f"number {low} 0" if low else "number"


def _horizons(name: str, value: Any) -> Any:
    return validate.counts(name, value, low=0)


COUNT = Domain(validate.counts, {"integer": True, "positive": True})
"""A whole number from 1 on."""
HORIZON = Domain(_horizons, {"integer": True, "nonnegative": True})
"""A whole number from 0 on."""
POSITIVE = Domain(validate.positive, {"positive": True})
"""A finite number above 0."""
NONNEGATIVE = Domain(validate.nonnegative, {"nonnegative": True})
"""A finite number from 0 on."""
REAL = Domain(validate.finite, {"real": True})
"""A finite number."""
