"""From claims to verdicts: run their checks on seeded instances and conclude from what these showed."""

from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from functools import partial
from typing import Any

from fedtheory._support import validate
from fedtheory.verification._jobs import in_order
from fedtheory.verification._spending import first_batch, on_batch, spent
from fedtheory.verification.catalogue import known_tapes, select_claims
from fedtheory.verification.claims import BUDGETS, Claim
from fedtheory.verification.conclusions import Verdict, concluded, entropy_of
from fedtheory.verification.trials import tried

__all__ = ["examine", "verdicts_of", "verify"]


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
    seeds, tapes = validate.seed_sequence(rng), known_tapes()
    entropy_of(seeds)
    claims, jobs = list(selected), validate.count("jobs", jobs)
    if isinstance(budget, str):
        budget = validate.choice("budget", budget, BUDGETS)
        yield from examined([(claim, claim.num_instances(budget)) for claim in claims], seeds, jobs)
    else:
        trials = spent(claims, seeds, tapes, validate.positive("budget", budget), jobs)
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

    Examples
    --------
    >>> from fedtheory.verification.catalogue import one_claim
    >>> sizes = [(one_claim("power-of-choice:lemma-b1"), 5), (one_claim("power-of-choice:lemma-b2"), 7)]
    >>> [(verdict.verdict, verdict.num_instances) for verdict in examined(sizes, rng=3)]
    [('holds', 6), ('holds', 8)]
    """
    seeds, tapes = validate.seed_sequence(rng), known_tapes()
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
    count = 1 if claim.is_single else validate.size("num_instances", wanted)
    seeds = validate.seed_sequence(rng)
    entropy_of(seeds)
    return concluded(claim, seeds, tried(claim, seeds, range(count), None if claim.is_single else tape))
