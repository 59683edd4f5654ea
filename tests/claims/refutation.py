"""Whether a wrong claim is refuted, by a seeded instance or by a search; both stop at the first that breaks it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fedtheory.verification.claims import Claim
from fedtheory.verification.findings import Finding
from fedtheory.verification.hunts import hunt
from fedtheory.verification.instances import regression_examples, reproduce

EXAMPLES = regression_examples()


def broken(claim: Claim, num_instances: int | None = None, rng: int = 1) -> bool:
    """Whether ``examine`` would say that the claim fails."""
    count = claim.num_instances("quick") if num_instances is None else num_instances
    return any(reproduce(claim, rng, index).holds is False for index in range(count))


def refuted(
    claim: Claim, check: Callable[[Any], Finding] | None = None, num_instances: int = 200, rng: int = 0
) -> bool:
    """Whether a search breaks the claim with another check.

    It starts where the claim itself is strained most, then from nothing: what one term is worth may show elsewhere.
    Half of a hunt's evaluations climb on the ratio of both sides, so that these are as many as are asked for.
    """
    mutant = replace(claim, check=check or claim.check)
    starts = [(), *([EXAMPLES[claim.key]] if claim.key in EXAMPLES else [])]
    hunts = (
        hunt(mutant, evaluations=2 * num_instances, rng=rng, start=start, small=False) for start in reversed(starts)
    )
    return any(found.worst.holds is False for found in hunts)
