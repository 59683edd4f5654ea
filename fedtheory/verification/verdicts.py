"""What the instances of a claim showed, summed up: its verdict."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import NamedTuple, cast, final

import numpy as np

from fedtheory._support.summary import Summary
from fedtheory._support.wording import written
from fedtheory.verification.claims import Claim, is_own
from fedtheory.verification.findings import ERROR, FAILS, HOLDS, INCONCLUSIVE, NOT_APPLICABLE, Finding, severity

__all__ = ["Verdict"]

HUNTED = -2
"""Number of an instance that a hunt found; its tape draws it again."""

LEAST_SHARE = Fraction(1, 4)
"""Share of the instances on which the hypotheses must hold for the verdict *holds*: where most instances say nothing, a
tick would stand for what was never tested, and the check should draw from its hypotheses instead."""

_EVIDENCE = 200
"""Instances, drawn or hunted, below which a verdict on somebody's own claim is called no evidence: an error that one
instance in a hundred shows is missed by 200 of them in one case of eight, by 20 in four of five."""


class Hunted(NamedTuple):
    """How a claim was hunted for a counterexample.

    Attributes
    ----------
    num_instances, seconds
        How many were tried, in what time.
    ended
        Whether the hunt came to its own end: then the seed repeats it, otherwise the time was up.
    tape
        Of the worst instance, if the hunt found it.
    """

    num_instances: int
    seconds: float
    ended: bool
    tape: tuple[float, ...] | None = None


@final
@dataclass(frozen=True, repr=False)
class Verdict:
    """What the instances of one claim showed.

    Attributes
    ----------
    claim
        The claim.
    verdict
        ``fails``: an instance breaks the claim. ``error``: the check raised an exception or returned what is no
        finding; instances after that one were not tried. ``not applicable``: the hypotheses held on no instance.
        ``inconclusive``: an instance decides nothing, or fewer than ``LEAST_SHARE`` of them are applicable.
        ``holds``: none of these.
    reason
        Why the verdict is none of ``holds`` and ``fails``; otherwise empty.
    num_instances, num_applicable
        Instances tried, and those on which the hypotheses held. Beside those drawn from the seed it is, where one is
        stored, the worst known instance of earlier searches, number -1.
    worst
        The finding nearest to breaking the claim, or the one that breaks it.
    worst_index
        Its number; ``reproduce(claim, rng, worst_index)`` draws it again. At an error, the instance that raised it.
    entropy, spawn_key
        Of the seed sequence that the instances came from.
    seconds
        Time spent.
    risk
        How many instances are expected, at most, to contradict a true claim: the sum of the findings' risks. Only
        confidence limits take one.
    hunted
        The hunt beside these instances, if there was one.
    """

    claim: Claim
    verdict: str
    reason: str
    num_instances: int
    num_applicable: int
    worst: Finding
    worst_index: int
    entropy: int
    spawn_key: tuple[int, ...]
    seconds: float
    risk: float = 0.0
    hunted: Hunted | None = None

    @property
    def key(self) -> str:
        """Key of the claim."""
        return self.claim.key

    @property
    def expected(self) -> str:
        """The verdict that the theory says is right."""
        return self.claim.expected

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the expected one; a refutation must be finite, since an overflow refutes nothing."""
        return self.verdict == self.expected and (self.verdict != FAILS or self.worst.is_finite)

    @property
    def worst_ratio(self) -> float:
        """Ratio measured / predicted of the worst instance."""
        return self.worst.ratio

    @property
    def side(self) -> str:
        """What was compared: exact numbers, floating-point ones, or a confidence limit."""
        return self.worst.side

    @property
    def is_evidence(self) -> bool:
        """Whether the verdict rests on enough: one that *holds* on few instances of somebody's own claim does not."""
        few = self.num_applicable + (self.hunted.num_instances if self.hunted else 0) < _EVIDENCE
        return not (is_own(self.claim) and few and self.verdict == HOLDS and not self.claim.is_single)

    @property
    def remarks(self) -> list[str]:
        """Sentences on what the verdict rests on, and on what its instances cannot say."""
        found = []
        if self.hunted is not None and self.verdict != FAILS:
            end = "" if self.hunted.ended else ", when the time was up"
            count, seconds = self.hunted.num_instances, self.hunted.seconds
            found.append(f"a hunt of {count} instances in {seconds:.1f} s found nothing that breaks it{end}")
        if not self.is_evidence:
            hunted = "" if self.hunted is None else f" and {self.hunted.num_instances} hunted"
            found.append(f"{self.num_applicable} instance{'s' * (self.num_applicable != 1)}{hunted}: no evidence yet")
        loose = self.claim.looseness
        own = self.claim.home and self.verdict == HOLDS and self.worst.relation != "=="
        if own and loose is not None and not loose * self.worst.ratio > 1:
            found.append(
                f"its bound divided by looseness={loose:g} breaks on no instance either (largest ratio "
                f"{self.worst.ratio:.4g}), so that these instances say nothing about its constant"
            )
        return found

    def __repr__(self) -> str:
        return self._summary.text

    def _repr_html_(self) -> str:
        return self._summary.html

    @property
    def _summary(self) -> Summary:
        rows = {"claim": self.claim.title, "source": self.claim.statement, "reason": self.reason}
        found = "found by a hunt" if self.worst_index == HUNTED else f"instance {self.worst_index}"
        where = f"({self.side}), {found} of seed {self.entropy}"
        rows |= {
            "expected": "" if self.as_expected else self.expected,
            "worst ratio": f"{written(float(self.worst_ratio))} {where}",
            "instances": f"{self.num_instances}, {self.num_applicable} of them meet the hypotheses",
        }
        rows |= {"remarks": "; ".join(self.remarks)}
        return Summary(f"{self.key}: {self.verdict}", {name: text for name, text in rows.items() if text})


def verdict_on(
    claim: Claim, seeds: np.random.SeedSequence, findings: Mapping[int, Finding], fault: str, seconds: float
) -> Verdict:
    """Return the verdict that findings by number lead to, the last of which raised ``fault`` unless that is empty."""
    verdict, reason = (ERROR, fault) if fault else _summed_up(list(findings.values()))
    index = list(findings)[-1] if fault else max(findings, key=lambda number: severity(findings[number]))
    return Verdict(
        claim=claim,
        verdict=verdict,
        reason=reason,
        num_instances=len(findings),
        num_applicable=sum(finding.applicable for finding in findings.values()),
        worst=findings[index],
        worst_index=index,
        entropy=cast(int, seeds.entropy),
        spawn_key=tuple(seeds.spawn_key),
        seconds=seconds,
        risk=sum(finding.risk for finding in findings.values()),
    )


def _summed_up(findings: list[Finding]) -> tuple[str, str]:
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
