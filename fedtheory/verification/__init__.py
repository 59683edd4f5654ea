"""Claims, their verification, and searches for counterexamples.

Modules are imported on first use.
"""

from typing import TYPE_CHECKING

from fedtheory._support import lazy
from fedtheory.bounds.catalogue import known_bounds
from fedtheory.claims.catalogue import known_claims
from fedtheory.theorem.claims import Claim, claim
from fedtheory.theorem.findings import Finding, at_least, at_most, equal_to, mean_at_most, not_applicable, worst_of

if TYPE_CHECKING:
    from fedtheory.verification import hunts as hunts
    from fedtheory.verification.hunts import hunt
    from fedtheory.verification.instances import regression_examples, replay, reproduce
    from fedtheory.verification.records import rows
    from fedtheory.verification.renderings import false_alarms, markdown_table
    from fedtheory.verification.verdicts import Verdict, examine, verify
else:  # a type checker would accept any name if it saw __getattr__
    __getattr__, _, _ = lazy.attach(
        __name__,
        submodules=["hunts"],
        submod_attrs={
            "hunts": ["hunt"],
            "instances": ["regression_examples", "replay", "reproduce"],
            "records": ["rows"],
            "renderings": ["false_alarms", "markdown_table"],
            "verdicts": ["Verdict", "examine", "verify"],
        },
    )

__all__ = [
    "Claim", "Finding", "Verdict", "at_least", "at_most", "claim", "equal_to", "examine", "false_alarms", "hunt",
    "known_bounds", "known_claims", "markdown_table", "mean_at_most", "not_applicable", "regression_examples",
    "replay", "reproduce", "rows", "verify", "worst_of",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__
