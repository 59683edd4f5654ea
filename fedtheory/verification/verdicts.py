"""From findings to verdicts: run the checks of claims on seeded instances and sum up what they showed."""

from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np

from fedtheory import _validate
from fedtheory._summary import Summary
from fedtheory._wording import written
from fedtheory.verification._jobs import in_order
from fedtheory.verification._spending import first_batch, on_batch, spent
from fedtheory.verification._summing_up import LEAST_SHARE, summed_up
from fedtheory.verification.catalogue import known_tapes, select_claims
from fedtheory.verification.claims import BUDGETS, Claim
from fedtheory.verification.findings import ERROR, FAILS, Finding
from fedtheory.verification.severities import severity
from fedtheory.verification.trials import Trials, tried

__all__ = ["LEAST_SHARE", "Verdict", "examine", "examined", "verdicts_of", "verify"]


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

    def __repr__(self) -> str:
        return self._summary.text

    def _repr_html_(self) -> str:
        return self._summary.html

    @property
    def _summary(self) -> Summary:
        rows = {"claim": self.claim.title, "source": self.claim.statement, "reason": self.reason}
        where = f"({self.side}), instance {self.worst_index} of seed {self.entropy}"
        rows |= {
            "expected": "" if self.as_expected else self.expected,
            "worst ratio": f"{written(float(self.worst_ratio))} {where}",
            "instances": f"{self.num_instances}, {self.num_applicable} of them meet the hypotheses",
        }
        return Summary(f"{self.key}: {self.verdict}", {name: said for name, said in rows.items() if said})


def verify(
    keys: str | Iterable[str] | None = None,
    budget: str | float = "quick",
    rng: Any = 0,
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
    selected: Iterable[Claim], budget: str | float = "quick", rng: Any = 0, jobs: int = 1
) -> Generator[Verdict, None, None]:
    """Yield the verdicts one by one, as they are reached; with a budget in seconds again, when they rest on more.

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
    >>> [verdict.key for verdict in verdicts_of(select_claims("power-of-choice:lemma-b1"))]
    ['power-of-choice:lemma-b1']
    """
    seeds, tapes = _validate.seed_sequence(rng), known_tapes()
    _entropy(seeds)
    claims, jobs = list(selected), _validate.count("jobs", jobs)
    if isinstance(budget, str):
        budget = _validate.choice("budget", budget, BUDGETS)
        yield from examined([(claim, claim.num_instances(budget)) for claim in claims], seeds, jobs)
    else:
        trials = spent(claims, seeds, tapes, _validate.positive("budget", budget), jobs)
        yield from (concluded(claim, seeds, found) for claim, found in trials)


def examined(sizes: Sequence[tuple[Claim, int]], rng: Any = 0, jobs: int = 1) -> Generator[Verdict, None, None]:
    """Yield the verdict on each claim from so many instances, and from the stored one.

    Parameters
    ----------
    sizes
        Pairs of a claim and a number of instances.
    rng
        Seed or SeedSequence.
    jobs
        Number of processes.

    Yields
    ------
    Verdict
        Verdicts, in the order of the claims.

    Raises
    ------
    ValueError
        If the seed or the number of jobs is none.
    """
    seeds, tapes = _validate.seed_sequence(rng), known_tapes()
    batches = [first_batch(claim, count, tapes.get(claim.key), jobs) for claim, count in sizes]
    with closing(in_order(partial(on_batch, seeds), batches, jobs)) as results:
        for (claim, _), trials in zip(sizes, results, strict=True):
            yield concluded(claim, seeds, trials)


def examine(
    claim: Claim, num_instances: int | None = None, rng: Any = 0, tape: Sequence[float] | None = None
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
    count = 1 if claim.is_single else _validate.count("num_instances", wanted)
    seeds = _validate.seed_sequence(rng)
    _entropy(seeds)
    return concluded(claim, seeds, tried(claim, seeds, range(count), None if claim.is_single else tape))


def concluded(claim: Claim, seeds: np.random.SeedSequence, trials: Trials) -> Verdict:
    """Return the verdict that trials lead to."""
    findings, fault = trials.findings, trials.fault
    verdict, reason = (ERROR, fault) if fault else summed_up(list(findings.values()))
    index = list(findings)[-1] if fault else max(findings, key=lambda number: severity(findings[number]))
    return Verdict(
        claim=claim,
        verdict=verdict,
        reason=reason,
        num_instances=len(findings),
        num_applicable=sum(finding.applicable for finding in findings.values()),
        worst=findings[index],
        worst_index=index,
        entropy=_entropy(seeds),
        spawn_key=tuple(seeds.spawn_key),
        seconds=trials.seconds,
        risk=sum(finding.risk for finding in findings.values()),
    )


def _entropy(seeds: np.random.SeedSequence) -> int:
    if isinstance(seeds.entropy, int):
        return seeds.entropy
    message = f"rng must come from a single integer of entropy, got {seeds.entropy!r}"
    raise ValueError(message)
