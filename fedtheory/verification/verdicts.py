"""From findings to verdicts: run the checks of claims on seeded instances and sum up what they showed."""

import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import ceil
from typing import Any, final

import numpy as np

from fedtheory import _validate
from fedtheory.verification.catalogue import known_tapes, select_claims
from fedtheory.verification.claims import BUDGETS, Claim
from fedtheory.verification.tapes import replay
from fedtheory.verification.findings import (
    ERROR,
    FAILS,
    HOLDS,
    INCONCLUSIVE,
    NOT_APPLICABLE,
    Finding,
    not_applicable,
    worst_of,
)

__all__ = ["LEAST_SHARE", "STORED", "Verdict", "examine", "reproduce", "verdicts_of", "verify"]

STORED = -1
"""Number of the worst known instance, which is stored with the package."""

LEAST_SHARE = Fraction(1, 4)
"""Share of the instances on which the hypotheses must hold for the verdict *holds*: where most instances say nothing, a
tick would stand for what was never tested, and the check should draw from its hypotheses instead."""


@final
@dataclass(frozen=True)
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


def verify(keys: str | Iterable[str] | None = None, budget: str = "quick", rng: Any = 0) -> list[Verdict]:
    """Reach a verdict on every claim that the keys name.

    Parameters
    ----------
    keys
        Full keys, prefixes of keys or patterns with ``*``; all claims by default.
    budget
        ``quick`` or ``thorough``: how many instances each claim gets.
    rng
        Seed, SeedSequence or Generator. A claim's instances depend on the seed and its key only, not on which other
        claims are examined.

    Raises
    ------
    ValueError
        If a key names no claim, or the budget is unknown.
    """
    return list(verdicts_of(select_claims(keys), budget, rng))


def verdicts_of(selected: Iterable[Claim], budget: str = "quick", rng: Any = 0) -> Iterator[Verdict]:
    """Yield the verdicts one by one, as they are reached."""
    budget = _validate.choice("budget", budget, BUDGETS)
    seeds, tapes = _validate.seed_sequence(rng), known_tapes()
    for claim in selected:
        yield examine(claim, claim.num_instances(budget), seeds, tapes.get(claim.key))


def examine(
    claim: Claim, num_instances: int | None = None, rng: Any = 0, tape: Sequence[float] | None = None
) -> Verdict:
    """Reach a verdict on one claim from a number of instances (the quick budget by default), and from a tape if given.

    An exception in the check is caught: the verdict is ``error``, and says what was raised.
    """
    wanted = claim.num_instances("quick") if num_instances is None else num_instances
    count = 1 if claim.is_single else _validate.count("num_instances", wanted)
    seeds = _validate.seed_sequence(rng)
    entropy, started = _entropy(seeds), time.perf_counter()
    findings, fault = _examined(claim, seeds, count, None if claim.is_single else tape)
    verdict, reason = (ERROR, fault) if fault else _sum_up(list(findings.values()))
    index = list(findings)[-1] if fault else _worst(findings)
    return Verdict(
        claim=claim,
        verdict=verdict,
        reason=reason,
        num_instances=len(findings),
        num_applicable=sum(finding.applicable for finding in findings.values()),
        worst=findings[index],
        worst_index=index,
        entropy=entropy,
        spawn_key=tuple(seeds.spawn_key),
        seconds=time.perf_counter() - started,
    )


def reproduce(claim: Claim, rng: Any, index: int) -> Finding:
    """Check one numbered instance of a claim again, -1 for the stored one; what the check raises is raised again."""
    if index == STORED:
        return _found(replay(claim, _stored(claim)))
    seeds = _validate.seed_sequence(rng)
    own = (*seeds.spawn_key, zlib.crc32(claim.key.encode()), _validate.horizon("index", index))
    return _found(claim.check(np.random.default_rng(np.random.SeedSequence(seeds.entropy, spawn_key=own))))


def _stored(claim: Claim) -> tuple[float, ...]:
    tapes = known_tapes()
    if claim.key not in tapes:
        message = f"claim must be one whose worst instance is stored, got {claim.key!r}"
        raise ValueError(message)
    return tapes[claim.key]


def _found(finding: Any) -> Finding:
    if not isinstance(finding, Finding):
        message = f"a check must return a Finding, got {finding!r}"
        raise TypeError(message)
    return finding


def _examined(
    claim: Claim, seeds: np.random.SeedSequence, count: int, tape: Sequence[float] | None
) -> tuple[dict[int, Finding], str]:
    """Return the findings by number up to the first instance whose check raises, and in one line what it raised."""
    findings: dict[int, Finding] = {}
    draws = {index: partial(reproduce, claim, seeds, index) for index in range(count)}
    if tape is not None:
        draws[STORED] = partial(replay, claim, tape)
    for index, draw in draws.items():
        try:
            findings[index] = _found(draw())
        except Exception as error:  # whatever a check raises is news about this claim only
            fault = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": ")
            findings[index] = not_applicable(fault)
            return findings, fault
    return findings, ""


def _worst(findings: dict[int, Finding]) -> int:
    worst = worst_of(findings.values())
    return next(index for index, finding in findings.items() if finding is worst)


def _sum_up(findings: list[Finding]) -> tuple[str, str]:
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


def _entropy(seeds: np.random.SeedSequence) -> int:
    if isinstance(seeds.entropy, int):
        return seeds.entropy
    message = f"rng must come from a single integer of entropy, got {seeds.entropy!r}"
    raise ValueError(message)
