"""From claims to verdicts: check seeded instances, spend a time where it tells most, hunt, and conclude."""

import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from fedtheory._support import validate
from fedtheory.verification._processes import in_order
from fedtheory.verification.catalogue import known_tapes, select_claims
from fedtheory.verification.claims import BUDGETS, Claim
from fedtheory.verification.findings import ERROR, FAILS, Finding, not_applicable, severity
from fedtheory.verification.hunts import Hunt, hunting
from fedtheory.verification.instances import STORED, checked, replay, reproduce
from fedtheory.verification.verdicts import HUNTED, Hunted, Verdict, verdict_on

__all__ = ["examine", "verify"]

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

    Parameters
    ----------
    selected
        Claims.
    budget
        ``quick``, ``thorough``, or seconds.
    rng
        Seed or SeedSequence.
    jobs
        Number of processes.
    num_instances
        How many of each claim, in the place of the budget.
    hunt_seconds
        After all instances, hunt the claims that are still open, all together for about so long.

    Yields
    ------
    Verdict
        Verdicts, in the order of the claims.

    Raises
    ------
    ValueError
        If the budget, the seed or the number of jobs is none.

    Examples
    --------
    >>> from fedtheory.verification.catalogue import select_claims
    >>> selected = select_claims("power-of-choice:lemma-b1")
    >>> [(verdict.verdict, verdict.num_instances) for verdict in verdicts_of(selected, num_instances=5, rng=3)]
    [('holds', 6)]
    """
    seeds, claims, jobs = _seeds(rng), list(selected), validate.count("jobs", jobs)
    seconds = None if isinstance(budget, str) or num_instances is not None else validate.positive("budget", budget)
    if num_instances is not None:
        counts = [validate.size("num_instances", num_instances)] * len(claims)
    elif isinstance(budget, str):
        size = validate.choice("budget", budget, BUDGETS)
        counts = [claim.num_instances(size) for claim in claims]
    else:
        counts = [_FIRST] * len(claims)
    return _reached(claims, seeds, counts, jobs, seconds, hunt_seconds)


def _reached(
    claims: Sequence[Claim],
    seeds: np.random.SeedSequence,
    counts: Sequence[int],
    jobs: int,
    seconds: float | None,
    hunt_seconds: float,
) -> Generator[Verdict, None, None]:
    """Yield verdicts on so many instances each; apart from what checks the arguments, which is done at the call."""
    reached: dict[str, Verdict] = {}
    with closing(trials_of(claims, seeds, counts, jobs, seconds)) as found:
        for claim, trials in found:
            reached[claim.key] = verdict_on(claim, seeds, *trials)
            yield reached[claim.key]
    if hunt_seconds > 0:
        yield from after_hunts(list(reached.values()), hunt_seconds, jobs)


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
    return verdict_on(claim, seeds, *tried(claim, seeds, range(count), None if claim.is_single else tape))


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
    claim: Claim, seeds: np.random.SeedSequence, numbers: Iterable[int], tape: Sequence[float] | None = None
) -> Trials:
    """Check numbered instances, then that of a tape if given, up to the first one whose check raises an exception."""
    started = time.perf_counter()
    findings: dict[int, Finding] = {}
    drawn = ((number, partial(reproduce, claim, seeds, number)) for number in numbers)
    stored = [(STORED, partial(replay, claim, tape))] if tape is not None else []
    for number, draw in chain(drawn, stored):
        try:
            findings[number] = checked(draw())
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
        items = [(claims[number], batch) for number, batch in batches.items()]
        with closing(in_order(partial(_tried, seeds), items, jobs)) as results:
            for number, trials in zip(batches, results, strict=True):
                reached[number] = reached[number].then(trials) if number in reached else trials
                yield claims[number], reached[number]
        left = deadline - time.monotonic() if seconds else 0.0
        batches = dict(islice(_least_certain(claims, reached, left), jobs))


def _tried(seeds: np.random.SeedSequence, claim: Claim, batch: _Batch) -> Trials:
    return tried(claim, seeds, *batch)


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
    with closing(in_order(partial(_hunted, share), items, jobs)) as outcomes:
        for verdict, outcome in zip(undecided, outcomes, strict=True):
            yield _with_hunt(verdict, outcome)


def _hunted(seconds: float, claim: Claim, seeds: np.random.SeedSequence) -> _HuntOutcome:
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
