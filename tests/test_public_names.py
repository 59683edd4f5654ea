"""Each public name in ``tests/public_names.txt`` can be imported."""

import importlib

from fedtheory.verification import known_bounds
from tests.additions import LISTED


def test_every_listed_name_can_be_imported() -> None:
    """A name that is removed on purpose leaves the list, and the changelog says what replaces it."""
    bounds, missing = known_bounds(), []
    for name in sorted(LISTED):
        module, _, attribute = name.rpartition(".")
        if not name.startswith("fedtheory."):
            missing += [] if name in bounds else [name]
        elif not hasattr(importlib.import_module(module), attribute):
            missing.append(name)
    assert missing == []
