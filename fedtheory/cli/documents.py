"""Output of commands: JSON with a header, or names and texts in two columns."""

import datetime as dt
import os
import platform
from collections.abc import Iterable
from typing import Any

from fedtheory import __version__
from fedtheory._support.console import say

__all__ = ["document", "write_pairs"]


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


def write_pairs(pairs: Iterable[tuple[str, str]]) -> None:
    """Write names and texts in two columns; a repeated name is written once."""
    previous = ""
    for name, text in pairs:
        say(f"{'' if name == previous else name:<17} {text}".rstrip())
        previous = name
