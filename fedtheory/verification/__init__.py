"""Claims, their verification, and searches for counterexamples.

Modules are imported on first use.
"""

from typing import TYPE_CHECKING

from fedtheory._support import lazy
from fedtheory.bounds.catalogue import known_bounds as known_bounds
from fedtheory.claims.catalogue import known_claims as known_claims
from fedtheory.theorem.claims import Claim as Claim
from fedtheory.theorem.claims import claim as claim
from fedtheory.theorem.findings import Finding as Finding
from fedtheory.theorem.findings import at_least as at_least
from fedtheory.theorem.findings import at_most as at_most
from fedtheory.theorem.findings import equal_to as equal_to
from fedtheory.theorem.findings import mean_at_most as mean_at_most
from fedtheory.theorem.findings import not_applicable as not_applicable
from fedtheory.theorem.findings import worst_of as worst_of

if TYPE_CHECKING:
    from fedtheory.verification import hunts as hunts
    from fedtheory.verification.hunts import hunt as hunt
    from fedtheory.verification.instances import regression_examples as regression_examples
    from fedtheory.verification.instances import replay as replay
    from fedtheory.verification.instances import reproduce as reproduce
    from fedtheory.verification.records import rows as rows
    from fedtheory.verification.renderings import false_alarms as false_alarms
    from fedtheory.verification.renderings import markdown_table as markdown_table
    from fedtheory.verification.verdicts import Verdict as Verdict
    from fedtheory.verification.verdicts import examine as examine
    from fedtheory.verification.verdicts import verify as verify
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
    "Claim",
    "Finding",
    "Verdict",
    "at_least",
    "at_most",
    "claim",
    "equal_to",
    "examine",
    "false_alarms",
    "hunt",
    "known_bounds",
    "known_claims",
    "markdown_table",
    "mean_at_most",
    "not_applicable",
    "regression_examples",
    "replay",
    "reproduce",
    "rows",
    "verify",
    "worst_of",
]


def __dir__() -> list[str]:
    return __all__
