"""What commands write: JSON under a header that says where it comes from, or names and texts in two columns."""

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
    """Put version, date and machine above the results of a command."""
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
    """Return values as numbers, and beside them, as text, those fractions that no double is.

    JSON has no infinities: they are text.

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
    """Return the double nearest to a number, an infinity where none is near."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def write_pairs(pairs: Iterable[tuple[str, str]]) -> None:
    """Write names and texts in two columns; a name is not repeated."""
    previous = ""
    for name, text in pairs:
        say(f"{'' if name == previous else name:<17} {text}".rstrip())
        previous = name
