"""Verdicts on claims."""

from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Literal, cast, final

import numpy as np

from fedtheory._support import validate
from fedtheory._support.summary import Summary, html_table
from fedtheory._support.wording import format_value
from fedtheory.claims.catalogue import select_claims
from fedtheory.theorem.claims import BUDGETS, Claim, Kind, is_own
from fedtheory.theorem.findings import (
    ERROR,
    FAILS,
    HOLDS,
    INCONCLUSIVE,
    NO_COUNTEREXAMPLE,
    NOT_APPLICABLE,
    Finding,
    severity,
    verdict_text,
)
from fedtheory.verification._jobs import in_order, number_of_jobs
from fedtheory.verification._trials import DRAWS_PER_INSTANCE, FIRST, Effort, Hunted, Ranges, Trials, tried, widen

__all__ = ["Verdict", "examine", "verify"]

HUNTED = -2
"""Index of an instance that a hunt found."""

LEAST_APPLICABLE = 5
"""Smallest number of applicable instances for a verdict, or all if fewer are requested."""


@final
@dataclass(frozen=True, repr=False)
class Verdict:
    """Result of checking one claim on its instances.

    Attributes
    ----------
    verdict
        ``fails``: an instance is a counterexample. ``error``: the check raised an exception or returned no finding, and
        later instances were not checked. ``not applicable``: the hypotheses held on no instance. ``inconclusive``: an
        instance decides nothing, or the hypotheses held on fewer than ``LEAST_APPLICABLE`` instances. Otherwise
        ``holds`` for the claims of the package, whose proofs are published, and ``no counterexample`` for user-defined
        claims.
    reason
        Reason for ``error``, ``not applicable`` or ``inconclusive``.
    num_instances, num_applicable
        Numbers of drawn and of applicable instances, including a regression example.
    worst, worst_index
        The counterexample, or the finding closest to one, and its number: ``reproduce(claim, rng, worst_index)`` checks
        it again. It is -1 for the regression example, and -2 for an instance of the hunt.
    entropy, spawn_key
        Seed sequence of the instances.
    risk
        Upper bound on the expected number of instances that contradict a true claim: the sum of the findings' risks.
    hunted
        Result of the hunt after these instances, if there was one.
    ranges
        Smallest and largest tried value of each number in the instances, by name.
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
    ranges: Ranges = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Key of the claim."""
        return self.claim.key

    @property
    def expected(self) -> str:
        """Verdict that the theory predicts."""
        return self.claim.expected

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the expected one; an infinite counterexample, an overflow, refutes nothing."""
        found = HOLDS if self.verdict == NO_COUNTEREXAMPLE else self.verdict
        return found == self.expected and (found != FAILS or self.worst.is_finite)

    @property
    def worst_ratio(self) -> float:
        """Ratio measured/predicted of the worst instance."""
        return self.worst.ratio

    @property
    def side(self) -> str:
        """Kind of comparison: exact numbers, floating-point numbers, or a confidence limit."""
        return self.worst.side

    @property
    def detectable(self) -> float | None:
        """Smallest factor by which the bound can be sharpened until the worst instance refutes it; may be infinite.

        The check does not detect constants that are wrong by less. It is 1 for identities, and None without a positive
        verdict.
        """
        if self.verdict not in (HOLDS, NO_COUNTEREXAMPLE):
            return None
        if self.worst.relation == "==":
            return 1.0
        return max(1 / self.worst.ratio, 1.0) if self.worst.ratio > 0 else inf

    def __repr__(self) -> str:
        return self._summary.text

    def _repr_html_(self) -> str:
        return self._summary.html

    @property
    def _summary(self) -> Summary:
        found = "found by a hunt" if self.worst_index == HUNTED else f"instance {self.worst_index}"
        rows = {
            "claim": self.claim.title,
            "source": self.claim.statement,
            "reason": self.reason,
            "expected": "" if self.as_expected else self.expected,
            "worst ratio": f"{format_value(float(self.worst_ratio))} ({self.side}), {found} of seed {self.entropy}",
            "instances": f"{self.num_instances}, {self.num_applicable} of them meet the hypotheses",
            "hunted": "" if self.hunted is None else f"{self.hunted.num_instances} more in {self.hunted.seconds:.1f} s",
        }
        title = f"{self.key}: {verdict_text(self.verdict, as_expected=self.as_expected)}"
        return Summary(title, {name: text for name, text in rows.items() if text})


@final
class Verdicts(list[Verdict]):
    """A list of verdicts, which a notebook displays as a table."""

    def _repr_html_(self) -> str:
        head = ("claim", "title", "verdict", "expected", "worst ratio", "instances")
        rows = (
            (
                verdict.key,
                verdict.claim.title,
                verdict_text(verdict.verdict, as_expected=verdict.as_expected),
                "" if verdict.as_expected else verdict.expected,
                verdict.worst_ratio,
                verdict.num_instances,
            )
            for verdict in self
        )
        return html_table(head, rows)


def verify(
    keys: str | Iterable[str] | None = None,
    budget: Literal["quick", "thorough"] | float = "quick",
    rng: validate.RNGLike = 0,
    *,
    paper: str | None = None,
    kind: Kind | None = None,
    jobs: int = 1,
) -> Verdicts:
    """Return the verdicts on the claims with the given keys.

    Parameters
    ----------
    keys
        Full keys, prefixes of keys or patterns with ``*``; all claims by default.
    budget
        ``quick`` or ``thorough``: number of applicable instances per claim. A number: seconds, which the claims share
        equally; each claim gets at least three instances.
    rng
        Seed, SeedSequence or Generator. The instances of a claim depend only on the seed and on its key, not on the
        other claims.
    paper, kind
        Only claims of this paper, for example ``power-of-choice``, and of this kind.
    jobs
        Number of processes; it does not change verdicts unless the budget is a time.

    Examples
    --------
    >>> [verdict.verdict for verdict in verify("power-of-choice:lemma-b1")]
    ['holds']
    """
    return Verdicts(verdicts_of(select_claims(keys, paper, kind), budget, rng, jobs))


def verdicts_of(
    selected: Iterable[Claim],
    budget: Literal["quick", "thorough"] | float = "quick",
    rng: validate.RNGLike = 0,
    jobs: int = 1,
    *,
    num_instances: int | None = None,
    hunt_seconds: float = 0.0,
) -> Generator[Verdict, None, None]:
    """Yield the verdicts one by one; ``hunt_seconds`` is the total time of all hunts."""
    seeds, claims, jobs = _seeds(rng), list(selected), number_of_jobs(jobs)
    share = jobs / max(sum(not claim.is_single for claim in claims), jobs)
    effort = Effort(FIRST, hunt_seconds=hunt_seconds * share)
    if num_instances is not None:
        efforts = [effort._replace(wanted=validate.size("num_instances", num_instances))] * len(claims)
    elif isinstance(budget, str):
        size = validate.choice("budget", budget, BUDGETS)
        efforts = [effort._replace(wanted=claim.num_instances(size)) for claim in claims]
    else:
        efforts = [effort._replace(seconds=validate.positive("budget", budget) * share)] * len(claims)
    return _verdicts(claims, seeds, efforts, jobs)


def _verdicts(
    claims: list[Claim], seeds: np.random.SeedSequence, efforts: list[Effort], jobs: int
) -> Generator[Verdict, None, None]:
    found = in_order(partial(tried, seeds=seeds), list(zip(claims, efforts, strict=True)), jobs)
    try:
        for claim, effort, trials in zip(claims, efforts, found, strict=True):
            yield verdict_on(claim, seeds, effort, trials)
    finally:
        found.close()


def examine(claim: Claim, num_instances: int | None = None, rng: validate.RNGLike = 0) -> Verdict:
    """Return the verdict on one claim.

    Instances are drawn until the hypotheses hold on ``num_instances`` of them, but at most 20 times as many; the
    regression example of a claim of the package is checked as well. An exception in the check gives the verdict
    ``error``.

    Parameters
    ----------
    num_instances
        Number of applicable instances, by default that of the quick budget; a deterministic check has one.

    Examples
    --------
    >>> from fedtheory.claims.catalogue import one_claim
    >>> examine(one_claim("power-of-choice:lemma-b1"), num_instances=5).num_instances
    6
    """
    wanted = claim.num_instances("quick") if num_instances is None else validate.size("num_instances", num_instances)
    seeds, effort = _seeds(rng), Effort(wanted)
    return verdict_on(claim, seeds, effort, tried(claim, effort, seeds=seeds))


def _seeds(rng: validate.RNGLike) -> np.random.SeedSequence:
    """Return the seeds of a verdict, which must come from one integer so that they can be printed."""
    seeds = validate.seed_sequence(rng)
    if not isinstance(seeds.entropy, int):
        message = f"rng must come from a single integer of entropy, got {seeds.entropy!r}"
        raise ValueError(message)
    return seeds


def verdict_on(claim: Claim, seeds: np.random.SeedSequence, effort: Effort, trials: Trials) -> Verdict:
    """Return the verdict that follows from trials."""
    findings, hunt = trials.findings, trials.hunted.hunt if trials.hunted else None
    index = list(findings)[-1] if trials.fault else max(findings, key=lambda number: severity(findings[number]))
    worst = findings[index]
    if hunt is not None and hunt.worst.holds is not None and severity(hunt.worst) > severity(worst):
        index, worst = HUNTED, hunt.worst
    ranges = dict(trials.hunted.ranges) if trials.hunted else {}
    for finding in findings.values():
        if finding.applicable:
            widen(ranges, finding)
    least, more = (1, "") if claim.is_single else (min(LEAST_APPLICABLE, effort.wanted), f"; {_more(effort)}")
    verdict, reason = _summed_up(trials, worst, least, more)
    return Verdict(
        claim=claim,
        verdict=NO_COUNTEREXAMPLE if verdict == HOLDS and is_own(claim) else verdict,
        reason=reason,
        num_instances=len(findings),
        num_applicable=sum(finding.applicable for finding in findings.values()),
        worst=worst,
        worst_index=index,
        entropy=cast(int, seeds.entropy),
        spawn_key=tuple(seeds.spawn_key),
        seconds=trials.seconds,
        risk=sum(finding.risk for finding in findings.values()),
        hunted=trials.hunted,
        ranges=ranges,
    )


def _summed_up(trials: Trials, worst: Finding, least: int, more: str) -> tuple[str, str]:
    """Return the verdict, and the reason if it is neither ``holds`` nor ``fails``."""
    if trials.fault:
        return ERROR, trials.fault
    if worst.holds is False:
        return FAILS, ""
    if trials.hunted and trials.hunted.fault:
        return ERROR, f"in a hunt: {trials.hunted.fault}"
    return _without_counterexample([*trials.findings.values()], trials.hunted, least, more)


def _without_counterexample(findings: list[Finding], hunted: Hunted | None, least: int, more: str) -> tuple[str, str]:
    undecided = [finding for finding in findings if finding.applicable and finding.holds is None]
    tried = len(findings) + (hunted.num_instances if hunted else 0)
    met = sum(finding.applicable for finding in findings) + (hunted.num_applicable if hunted else 0)
    if not met:
        return NOT_APPLICABLE, f"the hypotheses hold on none of {tried} instances{_why(findings[0])}{more}"
    if undecided:
        return INCONCLUSIVE, f"{len(undecided)} of {len(findings)} instances decide nothing{_why(undecided[0])}"
    if met < least:
        return INCONCLUSIVE, f"the hypotheses hold on {met} of {tried} instances, {least} are needed{more}"
    return HOLDS, ""


def _why(finding: Finding) -> str:
    return f": {finding.reason}" if finding.reason else ""


def _more(effort: Effort) -> str:
    """Return the hint at the option that draws more instances."""
    if effort.seconds is not None:
        return "a longer --budget draws more"
    wanted = 5 * effort.wanted
    return f"--instances {wanted} (num_instances={wanted} in Python) draws up to {DRAWS_PER_INSTANCE * wanted}"
