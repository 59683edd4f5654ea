"""From findings to verdicts: run the checks of claims on seeded instances and sum up what they showed."""

import time
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from fedtheory import _validate
from fedtheory.verification.catalogue import select_claims
from fedtheory.verification.claim import BUDGETS, FAILS, HOLDS, INCONCLUSIVE, NOT_APPLICABLE, Claim, Finding, worst_of

__all__ = ["Verdict", "examine", "reproduce", "verdicts_of", "verify"]


@final
@dataclass(frozen=True)
class Verdict:
    """What the instances of one claim showed.

    Attributes
    ----------
    key
        The claim.
    verdict
        ``holds``, ``fails``, ``not applicable`` (the hypotheses held on no instance) or ``inconclusive``.
    expected
        The verdict that the theory says is right.
    num_instances, num_applicable
        Instances tried, and those on which the hypotheses held.
    worst
        The finding nearest to breaking the claim, or the one that breaks it.
    worst_index
        Its number; ``reproduce(claim, rng, worst_index)`` draws it again.
    entropy, spawn_key
        Of the seed sequence that the instances came from.
    seconds
        Time spent.
    """

    key: str
    verdict: str
    expected: str
    num_instances: int
    num_applicable: int
    worst: Finding
    worst_index: int
    entropy: int
    spawn_key: tuple[int, ...]
    seconds: float

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the expected one."""
        return self.verdict == self.expected

    @property
    def worst_ratio(self) -> float:
        """Ratio measured / predicted of the worst instance."""
        return self.worst.ratio

    @property
    def side(self) -> str:
        """What was compared: exact numbers, floating-point ones, or a confidence limit."""
        return self.worst.side

    def as_row(self) -> dict[str, Any]:
        """Return plain strings and numbers only, for JSON."""
        return {
            "key": self.key,
            "verdict": self.verdict,
            "expected": self.expected,
            "as_expected": self.as_expected,
            "num_instances": self.num_instances,
            "num_applicable": self.num_applicable,
            "worst_ratio": repr(self.worst_ratio),
            "measured": str(self.worst.measured),
            "relation": self.worst.relation,
            "predicted": str(self.worst.predicted),
            "side": self.side,
            "worst_index": self.worst_index,
            "entropy": str(self.entropy),
            "spawn_key": list(self.spawn_key),
            "instance": {name: str(value) for name, value in self.worst.instance.items()},
            "seconds": self.seconds,
        }


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
    seeds = _validate.seed_sequence(rng)
    for claim in selected:
        yield examine(claim, claim.num_instances(budget), seeds)


def examine(claim: Claim, num_instances: int | None = None, rng: Any = 0) -> Verdict:
    """Reach a verdict on one claim from a number of instances (the quick budget by default)."""
    wanted = claim.num_instances("quick") if num_instances is None else num_instances
    count = 1 if claim.is_single else _validate.count("num_instances", wanted)
    seeds = _validate.seed_sequence(rng)
    started = time.perf_counter()
    findings = [reproduce(claim, seeds, index) for index in range(count)]
    worst = worst_of(findings)
    return Verdict(
        key=claim.key,
        verdict=_sum_up(findings),
        expected=claim.expected,
        num_instances=count,
        num_applicable=sum(finding.applicable for finding in findings),
        worst=worst,
        worst_index=next(index for index, finding in enumerate(findings) if finding is worst),
        entropy=_entropy(seeds),
        spawn_key=tuple(seeds.spawn_key),
        seconds=time.perf_counter() - started,
    )


def reproduce(claim: Claim, rng: Any, index: int) -> Finding:
    """Check one numbered instance of a claim again."""
    seeds = _validate.seed_sequence(rng)
    own = (*seeds.spawn_key, zlib.crc32(claim.key.encode()), _validate.horizon("index", index))
    return claim.check(np.random.default_rng(np.random.SeedSequence(seeds.entropy, spawn_key=own)))


def _sum_up(findings: list[Finding]) -> str:
    outcomes = {finding.holds for finding in findings if finding.applicable}
    if not outcomes:
        return NOT_APPLICABLE
    if False in outcomes:
        return FAILS
    return INCONCLUSIVE if None in outcomes else HOLDS


def _entropy(seeds: np.random.SeedSequence) -> int:
    if isinstance(seeds.entropy, int):
        return seeds.entropy
    message = f"rng must come from a single integer of entropy, got {seeds.entropy!r}"
    raise ValueError(message)
