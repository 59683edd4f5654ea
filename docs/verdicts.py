"""Verdicts on all claims, reached once for all pages that show them."""

import os
from functools import cache

from fedtheory.theorem.claims import Claim
from fedtheory.verification import Verdict, known_claims
from fedtheory.verification.verdicts import examine, verdicts_of


@cache
def verdicts() -> dict[str, Verdict]:
    """Verdicts of the quick budget by key, on as many processors as there are."""
    return {one.key: one for one in verdicts_of(known_claims().values(), jobs=os.cpu_count() or 1)}


def verdict_on(claim: Claim) -> Verdict:
    """Return the verdict on one claim, which is not verified again if all claims have been."""
    return verdicts()[claim.key] if verdicts.cache_info().currsize else examine(claim)
