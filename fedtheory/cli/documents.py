"""Output of commands: JSON with a header, or names and texts in two columns."""

import datetime as dt
import json
import math
import os
import platform
import sys
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from fedtheory import __version__
from fedtheory._support.console import say

__all__ = ["document", "double", "numbers", "print_json", "write_pairs"]


def document(**content: Any) -> dict[str, Any]:
    """Add version, date and machine to the results of a command."""
    return {
        "fedtheory": __version__,
        "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "machine": {
            "platform": platform.platform(),
            "processor": platform.machine(),
            "num_processors": os.cpu_count(),
            "python": platform.python_version(),
        },
        **content,
    }


def print_json(content: Mapping[str, Any]) -> None:
    """Write a document to standard output."""
    sys.stdout.write(json.dumps(content, indent=2, allow_nan=False) + "\n")


def numbers(values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return values as numbers and, as text, the fractions that are not exact as doubles.

    Infinities are text, since JSON has none.

    >>> numbers({"bias": Fraction(1, 3), "total": math.inf})
    {'values': {'bias': 0.3333333333333333, 'total': 'inf'}, 'exact': {'bias': '1/3'}}
    """
    doubles = {name: double(value) for name, value in values.items()}
    exact = {
        name: str(value) for name, value in values.items() if isinstance(value, Fraction) and value != doubles[name]
    }
    return {
        "values": {name: value if math.isfinite(value) else str(value) for name, value in doubles.items()},
        "exact": exact,
    }


def double(value: Any) -> float:
    """Return the nearest double; numbers beyond the range of doubles become infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def write_pairs(pairs: Iterable[tuple[str, str]]) -> None:
    """Write names and texts in two columns; a repeated name is written once."""
    previous = ""
    for name, text in pairs:
        say(f"{'' if name == previous else name:<17} {text}".rstrip())
        previous = name
