"""One word for what the findings of a claim's instances showed."""

from fractions import Fraction
from math import ceil

from fedtheory.verification.findings import FAILS, HOLDS, INCONCLUSIVE, NOT_APPLICABLE, Finding

__all__ = ["LEAST_SHARE", "summed_up"]

LEAST_SHARE = Fraction(1, 4)
"""Share of the instances on which the hypotheses must hold for the verdict *holds*: where most instances say nothing, a
tick would stand for what was never tested, and the check should draw from its hypotheses instead."""


def summed_up(findings: list[Finding]) -> tuple[str, str]:
    """Verdict, and the reason if it is neither ``holds`` nor ``fails``."""
    applicable = [finding for finding in findings if finding.applicable]
    undecided = [finding for finding in applicable if finding.holds is None]
    if any(finding.holds is False for finding in applicable):
        return FAILS, ""
    tried, least = len(findings), ceil(LEAST_SHARE * len(findings))
    if not applicable:
        return NOT_APPLICABLE, f"the hypotheses hold on none of {tried} instances{_why(findings[0])}"
    if undecided:
        return INCONCLUSIVE, f"{len(undecided)} of {tried} instances decide nothing{_why(undecided[0])}"
    if len(applicable) < least:
        return (
            INCONCLUSIVE,
            f"the hypotheses hold on {len(applicable)} of {tried} instances, at least {least} must count",
        )
    return HOLDS, ""


def _why(finding: Finding) -> str:
    return f": {finding.reason}" if finding.reason else ""
