"""Verdicts on all claims, reached once for all pages that show them."""

import os
from functools import cache

from fedtheory.verification import Verdict, known_claims
from fedtheory.verification.verdicts import verdicts_of


@cache
def verdicts() -> dict[str, Verdict]:
    """Verdicts of the quick budget by key, on as many processors as there are."""
    return {one.key: one for one in verdicts_of(known_claims().values(), jobs=os.cpu_count() or 1)}
