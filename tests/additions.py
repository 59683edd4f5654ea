"""What is new in this tree: things that ``tests/surface.txt`` does not list.

Whoever adds a thing writes one file. What others may add later, a second transcription, a page, an example, is missing
until then, and a test that wants it is left out, with a reason that names it.
"""

import re
from collections.abc import Iterable

import pytest

from tests import surface

LISTED = {re.match(r"[\w.]*", line)[0] for line in surface.FILE.read_text(encoding="utf-8").splitlines()}  # type: ignore[index]


def is_new(name: str) -> bool:
    """Whether a public thing is not listed: a bound as ``paper.function``, another thing with its module."""
    return name not in LISTED


def leave_out_if_new(name: str, lacking: object) -> None:
    """Leave the test out if it finds something lacking of a thing that is new."""
    if lacking and is_new(name):
        pytest.skip(f"{name} is new, and lacks {lacking}")


def check_of_all(quality: str, lacking: Iterable[str]) -> None:
    """Assert that nothing lacks a quality, and leave the test out if only new things do (lines ``name: what``)."""
    told = list(lacking)
    assert [line for line in told if not is_new(line.partition(":")[0])] == []
    if told:
        pytest.skip(f"new, and without {quality}: {'; '.join(told)}")
