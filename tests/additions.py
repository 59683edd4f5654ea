"""Public names that ``tests/public_names.txt`` does not list.

An addition is one file. A test that needs an optional part of it, such as a second transcription, a page or an example,
is skipped if that part is missing. The reason names the addition.
"""

from collections.abc import Iterable

import pytest

from tests.environment import ROOT

LISTED = frozenset((ROOT / "tests" / "public_names.txt").read_text(encoding="utf-8").split())


def is_new(name: str) -> bool:
    """Whether a public thing is not listed: a bound as ``paper.function``, another thing with its package or module."""
    root, _, rest = name.partition(".")
    parts = rest.split(".")
    return (f"{root}.{parts[0]}.{parts[-1]}" if root == "fedtheory" and len(parts) > 1 else name) not in LISTED


def leave_out_if_new(name: str, lacking: object) -> None:
    """Skip the test if a thing that is new lacks something."""
    if lacking and is_new(name):
        pytest.skip(f"{name} is new, and lacks {lacking}")


def check_of_all(quality: str, lacking: Iterable[str]) -> None:
    """Assert that no listed thing lacks a quality; skip the test if only new things do (lines ``name: what``)."""
    found = list(lacking)
    assert [line for line in found if not is_new(line.partition(":")[0])] == []
    if found:
        pytest.skip(f"new, and without {quality}: {'; '.join(found)}")
