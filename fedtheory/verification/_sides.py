"""Both sides of a comparison as a person would write them."""

from fractions import Fraction
from typing import Any

from fedtheory._support.wording import short_exponent, told_apart, written
from fedtheory.verification.plain_rows import Row

__all__ = ["comparison"]


def comparison(row: Row) -> str:
    """Write both sides of a comparison: long fractions with their decimals, doubles with the digits that count.

    >>> close = {"measured": 0.5000000001, "relation": "<=", "predicted": 0.5, "side": "floating point", "slack": 1e-9}
    >>> comparison(close)
    '0.5, should be <= 0.5 (floating point, equal up to 1e-9)'
    >>> comparison({**close, "slack": 0})
    '0.5000000001, should be <= 0.5 (floating point)'
    >>> comparison({"measured": "2/3001", "relation": "<=", "predicted": 1, "side": "exact", "slack": 0})
    '2/3001 = 0.0006664, should be <= 1 (exact)'
    """
    measured, predicted, slack = (_value(row[name]) for name in ("measured", "predicted", "slack"))
    side = row["side"]
    if isinstance(measured, float) and isinstance(predicted, float) and 0 < abs(measured - predicted) <= slack:
        # The slack of a comparison stands for rounding, so digits below it mean nothing.
        predicted, side = measured, f"{side}, equal up to {written(float(slack))}"
    texts = told_apart(measured, predicted) if "about" not in f"{measured}{predicted}" else (measured, predicted)
    left, right = (_beside(row[name], text) for name, text in zip(("measured", "predicted"), texts, strict=True))
    return f"{left}, should be {row['relation']} {right} ({side})"


def _beside(exact: Any, rounded: Any) -> str:
    text = short_exponent(str(rounded)).removesuffix(".0")
    return f"{exact} = {text}" if isinstance(exact, str) and "/" in exact and exact != text else text


def _value(side: Any) -> Any:
    """Return the number that a row holds, which may be text: a fraction, an infinity, or what it is about."""
    if not isinstance(side, str) or side.startswith("about"):
        return side
    return Fraction(side) if "/" in side else float(side)
