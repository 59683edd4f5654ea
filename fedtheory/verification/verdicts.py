"""From claims to verdicts: check seeded instances, spend a time where it tells most, hunt, and sum up."""

import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import chain, islice
from math import ceil
from typing import NamedTuple, cast, final

import numpy as np

from fedtheory._support import validate
from fedtheory._support.summary import Summary
from fedtheory._support.wording import written
from fedtheory.verification._processes import in_order, number_of_jobs
from fedtheory.verification.catalogue import select_claims
from fedtheory.verification.claims import BUDGETS, STORED, Claim, is_own, known_tapes, replay, reproduce
from fedtheory.verification.findings import (
    ERROR,
    FAILS,
    HOLDS,
    INCONCLUSIVE,
    NOT_APPLICABLE,
    Finding,
    not_applicable,
    severity,
)
from fedtheory.verification.hunts import Hunt, hunting

__all__ = ["Verdict", "examine", "verify"]

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


_FIRST, _DOUBT = 3, 0.05

_MOST_HUNTED = 2000
"""Instances that a claim is hunted for at most: with enough time the same seed hunts the same way."""


def verify(
    keys: str | Iterable[str] | None = None,
    budget: str | float = "quick",
    rng: validate.RNGLike = 0,
    *,
    paper: str | None = None,
    kind: str | None = None,
    jobs: int = 1,
) -> list[Verdict]:
    """Reach a verdict on every claim that the keys name.

    Parameters
    ----------
    keys
        Full keys, prefixes of keys or patterns with ``*``; all claims by default.
    budget
        ``quick`` or ``thorough``: how many instances each claim gets. Or seconds: after three instances of each claim
        the time goes where a verdict is least certain.
    rng
        Seed, SeedSequence or Generator. A claim's instances depend on the seed and its key only, not on which other
        claims are examined.
    paper, kind
        Only claims of this paper, as ``power-of-choice``, and of this kind.
    jobs
        Number of processes; the verdicts are those of one, but for what a budget in seconds leaves time for.

    Returns
    -------
    list[Verdict]
        One for each claim, in the order of the modules.

    Raises
    ------
    ValueError
        If a key names no claim, no claim is left, or the budget is unknown.

    Examples
    --------
    >>> [verdict.verdict for verdict in verify("power-of-choice:lemma-b1")]
    ['holds']
    """
    reached = {verdict.key: verdict for verdict in verdicts_of(select_claims(keys, paper, kind), budget, rng, jobs)}
    return list(reached.values())


def verdicts_of(
    selected: Iterable[Claim],
    budget: str | float = "quick",
    rng: validate.RNGLike = 0,
    jobs: int = 1,
    *,
    num_instances: int | None = None,
    hunt_seconds: float = 0.0,
) -> Generator[Verdict, None, None]:
    """Yield the verdicts one by one, as they are reached; again, when they rest on more: on a longer time, or a hunt.

    >>> from fedtheory.verification.catalogue import select_claims
    >>> selected = select_claims("power-of-choice:lemma-b1")
    >>> [(verdict.verdict, verdict.num_instances) for verdict in verdicts_of(selected, num_instances=5, rng=3)]
    [('holds', 6)]
    """
    seeds, claims, jobs = _seeds(rng), list(selected), number_of_jobs(jobs)
    seconds = None if isinstance(budget, str) or num_instances is not None else validate.positive("budget", budget)
    if num_instances is not None:
        counts = [validate.size("num_instances", num_instances)] * len(claims)
    elif isinstance(budget, str):
        size = validate.choice("budget", budget, BUDGETS)
        counts = [claim.num_instances(size) for claim in claims]
    else:
        counts = [_FIRST] * len(claims)

    def verdicts() -> Generator[Verdict, None, None]:  # the arguments are checked at the call, and not when it begins
        reached: dict[str, Verdict] = {}
        with closing(trials_of(claims, seeds, counts, jobs, seconds)) as found:
            for claim, trials in found:
                reached[claim.key] = verdict_on(claim, seeds, *trials)
                yield reached[claim.key]
        if hunt_seconds > 0:
            yield from after_hunts(list(reached.values()), hunt_seconds, jobs)

    return verdicts()


def examine(
    claim: Claim, num_instances: int | None = None, rng: validate.RNGLike = 0, tape: Sequence[float] | None = None
) -> Verdict:
    """Reach a verdict on one claim from a number of instances (the quick budget by default), and from a tape if given.

    An exception in the check is caught: the verdict is ``error``, and says what was raised.

    Parameters
    ----------
    claim
        To be decided.
    num_instances
        How many to draw; one if its check is not random.
    rng
        Seed or SeedSequence.
    tape
        Of one more instance.

    Returns
    -------
    Verdict
        With its worst instance, which can be drawn again.

    Raises
    ------
    ValueError
        If the number of instances is not positive, or the seed is not made from a single integer.

    Examples
    --------
    >>> from fedtheory.verification.catalogue import one_claim
    >>> examine(one_claim("power-of-choice:lemma-b1"), num_instances=5).num_instances
    5
    """
    wanted = claim.num_instances("quick") if num_instances is None else num_instances
    count = 1 if claim.is_single else validate.size("num_instances", wanted)
    seeds = _seeds(rng)
    return verdict_on(claim, seeds, *tried(claim, range(count), None if claim.is_single else tape, seeds=seeds))


def _seeds(rng: validate.RNGLike) -> np.random.SeedSequence:
    """Return the seeds of a verdict, which come from one integer: it is what draws an instance again."""
    seeds = validate.seed_sequence(rng)
    if not isinstance(seeds.entropy, int):
        message = f"rng must come from a single integer of entropy, got {seeds.entropy!r}"
        raise ValueError(message)
    return seeds


class Trials(NamedTuple):
    """What instances of one claim showed, by number, in the order in which they were tried.

    The last finding is a placeholder if its check raised an exception: ``fault`` is that in one line, otherwise empty,
    and no instance was tried after it.
    """

    findings: dict[int, Finding]
    fault: str
    seconds: float

    def then(self, later: "Trials") -> "Trials":
        """Return these trials and later ones together."""
        return Trials(self.findings | later.findings, later.fault, self.seconds + later.seconds)


def tried(
    claim: Claim, numbers: Iterable[int], tape: Sequence[float] | None = None, *, seeds: np.random.SeedSequence
) -> Trials:
    """Check numbered instances, then that of a tape if given, up to the first one whose check raises an exception."""
    started = time.perf_counter()
    findings: dict[int, Finding] = {}
    drawn = ((number, partial(reproduce, claim, seeds, number)) for number in numbers)
    stored = [(STORED, partial(replay, claim, tape))] if tape is not None else []
    for number, draw in chain(drawn, stored):
        try:
            findings[number] = draw()
        except Exception as error:  # whatever a check raises is news about this claim only
            fault = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": ")
            findings[number] = not_applicable(fault)
            return Trials(findings, fault, time.perf_counter() - started)
    return Trials(findings, "", time.perf_counter() - started)


_Batch = tuple[range, Sequence[float] | None]
"""Numbers of instances to try, and the tape of one more."""


def trials_of(
    claims: Sequence[Claim],
    seeds: np.random.SeedSequence,
    counts: Sequence[int],
    jobs: int,
    seconds: float | None = None,
) -> Generator[tuple[Claim, Trials], None, None]:
    """Yield each claim with its trials on so many instances, whatever that takes, and on the stored one.

    With seconds to spend it goes on until they are over: the claim that is least certain is tried twice as often as
    before, or as often as the time that is left allows (with several jobs, so many claims at once), and yielded again.
    """
    deadline, tapes = time.monotonic() + (seconds or 0.0), known_tapes()
    batches: dict[int, _Batch] = {
        number: (range(1), None) if claim.is_single else (range(count), tapes.get(claim.key))
        for number, (claim, count) in enumerate(zip(claims, counts, strict=True))
    }
    reached: dict[int, Trials] = {}
    while batches:
        items = [(claims[number], *batch) for number, batch in batches.items()]
        with closing(in_order(partial(tried, seeds=seeds), items, jobs)) as results:
            for number, trials in zip(batches, results, strict=True):
                reached[number] = reached[number].then(trials) if number in reached else trials
                yield claims[number], reached[number]
        left = deadline - time.monotonic() if seconds else 0.0
        batches = dict(islice(_least_certain(claims, reached, left), jobs))


def uncertainty(claim: Claim, trials: Trials) -> float:
    """Share of instances that may break the claim for all that was seen, but for one chance in twenty.

    It is 0 where nothing is left to see: the claim has one instance only, is broken, or its check raised an exception.
    """
    findings = trials.findings.values()
    if claim.is_single or trials.fault or any(finding.holds is False for finding in findings):
        return 0.0
    decided = sum(finding.holds is True for finding in findings)
    undecided = any(finding.applicable and finding.holds is None for finding in findings)
    return 1.0 if undecided or not decided else float(1 - _DOUBT ** (1 / decided))


def _least_certain(claims: Sequence[Claim], reached: Mapping[int, Trials], left: float) -> Iterator[tuple[int, _Batch]]:
    """Yield the next instances of claims, by their number, the least certain claim first, if there is time left."""
    doubts = {number: uncertainty(claims[number], trials) for number, trials in reached.items()}
    for number in sorted(doubts, key=lambda number: -doubts[number]):
        trials = reached[number]
        drawn = sum(index != STORED for index in trials.findings)
        affordable = int(left / max(trials.seconds / len(trials.findings), 1e-6))
        if doubts[number] > 0 and affordable > 0:
            yield number, (range(drawn, drawn + min(drawn, affordable)), None)


class _HuntOutcome(NamedTuple):
    hunt: Hunt | None
    fault: str
    num_instances: int
    seconds: float
    ended: bool


def after_hunts(verdicts: Sequence[Verdict], seconds: float, jobs: int = 1) -> Generator[Verdict, None, None]:
    """Yield those verdicts that a hunt may change, each after its hunt; all hunts together take about so long.

    Each claim has an equal share of the time. A single instance, a failure and an error need no hunt.
    """
    undecided = [v for v in verdicts if not v.claim.is_single and v.verdict not in (FAILS, ERROR)]
    share = seconds * min(jobs, len(undecided)) / max(len(undecided), 1)
    items = [(v.claim, np.random.SeedSequence(v.entropy, spawn_key=v.spawn_key)) for v in undecided]
    with closing(in_order(partial(_hunted, seconds=share), items, jobs)) as outcomes:
        for verdict, outcome in zip(undecided, outcomes, strict=True):
            yield _with_hunt(verdict, outcome)


def _hunted(claim: Claim, seeds: np.random.SeedSequence, seconds: float) -> _HuntOutcome:
    started = time.monotonic()
    last, count, ended = None, 0, True
    try:
        with closing(hunting(claim, rng=seeds, evaluations=_MOST_HUNTED)) as states:  # type: ignore[type-var]
            for last in states:
                count = last.num_instances
                broken = last.worst.holds is False
                # Half of the time again makes a counterexample small.
                if time.monotonic() - started > seconds * (1.5 if broken else 1.0):
                    ended = count >= _MOST_HUNTED
                    break
    except Exception as error:  # whatever a check raises is news about this claim only
        message = " ".join(f"{type(error).__name__}: {error}".split())
        fault = ", ".join([message, *getattr(error, "__notes__", [])])
        return _HuntOutcome(last, fault, count + 1, time.monotonic() - started, ended=False)
    return _HuntOutcome(last, "", count, time.monotonic() - started, ended)


def _with_hunt(verdict: Verdict, outcome: _HuntOutcome) -> Verdict:
    hunted = Hunted(outcome.num_instances, outcome.seconds, outcome.ended)
    found = replace(verdict, hunted=hunted, seconds=verdict.seconds + outcome.seconds)
    if outcome.hunt is None:
        return replace(found, verdict=ERROR, reason=outcome.fault) if outcome.fault else found
    worst, tape = outcome.hunt.worst, outcome.hunt.tape
    if worst.holds is False or severity(worst) > severity(verdict.worst):
        found = replace(found, worst=worst, worst_index=HUNTED, hunted=hunted._replace(tape=tape))
    if worst.holds is False:
        return replace(found, verdict=FAILS, reason="")
    return replace(found, verdict=ERROR, reason=f"a hunt met {outcome.fault}") if outcome.fault else found
