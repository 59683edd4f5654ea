"""Which finding is the worst."""

from collections.abc import Iterable
from dataclasses import replace

from fedtheory.verification.findings import Finding

__all__ = ["severity", "worst_of"]

_DECIMALS = 9  # of the strain of floats: rounding is far below


def worst_of(findings: Iterable[Finding]) -> Finding:
    """Return the finding nearest to breaking the claim: failures, undecided ones, then by strain; of equals the first.

    Its risk is that of all of them together. Floats are equal to nine decimals of their strain: beyond, every processor
    would choose another one.

    Parameters
    ----------
    findings
        At least one.

    Returns
    -------
    Finding
        One of them, with the risk of all.

    Examples
    --------
    >>> from fedtheory.verification.findings import at_most
    >>> worst_of([at_most(1, 2), at_most(3, 4), at_most(1, 8)]).ratio
    0.75
    """
    found = list(findings)
    worst, risk = max(found, key=severity), min(sum(finding.risk for finding in found), 1.0)
    return worst if risk == worst.risk else replace(worst, risk=risk)


def severity(finding: Finding) -> tuple[bool, bool, bool, float]:
    """Return what orders findings, the worst one last.

    Parameters
    ----------
    finding
        Any.

    Returns
    -------
    tuple[bool, bool, bool, float]
        Whether it fails, is undecided, is applicable; and how near it comes to failing.

    Examples
    --------
    >>> from fedtheory.verification.findings import at_most, not_applicable
    >>> severity(at_most(3, 2)) > severity(at_most(1, 2)) > severity(not_applicable())
    True
    """
    undecided = finding.applicable and finding.holds is None
    strain = finding.strain if finding.side == "exact" else round(finding.strain, _DECIMALS)
    return finding.holds is False, undecided, finding.applicable, strain
