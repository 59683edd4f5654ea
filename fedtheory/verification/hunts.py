"""Searches for counterexamples."""

import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import count, islice
from typing import NamedTuple

import numpy as np

from fedtheory._support import validate
from fedtheory.claims.catalogue import one_claim
from fedtheory.theorem.claims import Claim
from fedtheory.theorem.findings import Finding
from fedtheory.verification._jobs import number_of_jobs, pool, received, sent
from fedtheory.verification._search import Step, climbs_in_turn, score, shrink
from fedtheory.verification.instances import shortest

__all__ = ["hunt"]

# The climbs 0, 1, ... use children of the seed with these numbers; shrinking uses this one.
_SHRINKING = 2**32 - 1
# Number of climbs that a process receives at a time, since some end after a few instances.
_BATCH = 4


class Hunt(NamedTuple):
    """Result of a hunt.

    Attributes
    ----------
    key
        Key of the claim.
    worst
        The finding closest to breaking the claim, or a small counterexample.
    choices
        The choices of its instance: ``replay(claim, choices)`` checks it again.
    num_instances
        Number of tried instances.
    home
        File or module of the claim; empty for the claims of the package.
    """

    key: str
    worst: Finding
    choices: tuple[float, ...]
    num_instances: int
    home: str = ""


def hunt(
    claim: Claim | str,
    seconds: float = 30.0,
    rng: validate.RNGLike = 0,
    *,
    evaluations: int | None = None,
    start: Sequence[float] = (),
    jobs: int = 1,
    small: bool = True,
) -> Hunt:
    """Search for a counterexample to a claim by maximizing the ratio measured/predicted.

    The search climbs from many random instances by changes of single numbers and of blocks, and by an evolution
    strategy for continuous numbers. It ends at the first counterexample, which is then shrunk: to fewer numbers
    (clients, dimensions), and to shorter and smaller ones. Exact checks remain exact.

    Parameters
    ----------
    claim
        The claim, or its key.
    seconds
        Wall-clock time of the search; shrinking may take half of it in addition.
    rng
        Seed, SeedSequence or Generator.
    evaluations
        Largest number of instances, in place of the time; shrinking may try as many in addition. Equal seeds and
        numbers give the same instance for every number of jobs.
    start
        Choices at which every second climb begins, for example those of an earlier hunt.
    jobs
        Number of processes.
    small
        Whether to shrink a counterexample.

    Returns
    -------
    Hunt
        The worst instance, its choices, and the number of instances tried.

    Raises
    ------
    ValueError
        If the key names no claim, or the time, the number of evaluations or of jobs is not positive.

    Examples
    --------
    >>> hunt("power-of-choice:lemma-b1", evaluations=20).worst.holds
    True
    """
    validate.boolean("small", small)
    *_, last = hunting(claim, seconds, rng, evaluations=evaluations, start=start, jobs=jobs, small=small)
    return last


def hunting(
    claim: Claim | str,
    seconds: float = 30.0,
    rng: validate.RNGLike = 0,
    *,
    evaluations: int | None = None,
    start: Sequence[float] = (),
    jobs: int = 1,
    small: bool = True,
) -> Generator[Hunt, None, None]:
    """Yield the result of ``hunt`` so far, after each instance or, with several jobs, after each climb.

    >>> [last] = list(hunting("power-of-choice:lemma-b1", evaluations=20))[-1:]
    >>> last.worst.holds
    True
    """
    from threadpoolctl import threadpool_limits

    hunted = one_claim(claim) if isinstance(claim, str) else claim
    budget, seeds, jobs = _budget(seconds, evaluations), validate.seed_sequence(rng), number_of_jobs(jobs)
    best: Step | None = None
    state: Hunt | None = None
    # The last digits of linear algebra depend on the number of threads.
    with threadpool_limits(1), closing(_steps(hunted, seeds, tuple(start), budget, jobs)) as steps:
        for step in steps:
            best = _worse(best, step)
            state = _state(hunted, best, state)
            yield state
            if best.worst.holds is False or not best.reads or budget.is_spent(best.num_instances):
                break
    if small and best is not None and best.worst.holds is False:
        rest = _budget(seconds / 2, None if evaluations is None else best.num_instances + evaluations)
        for step in shrink(hunted, best, _child(seeds, _SHRINKING)):
            state = _state(hunted, step, state)
            yield state
            if rest.is_spent(step.num_instances):
                break


_Start = tuple[np.random.SeedSequence, tuple[float, ...]]


class _Budget(NamedTuple):
    deadline: float
    evaluations: int | None

    def is_spent(self, tried: int) -> bool:
        return time.monotonic() >= self.deadline if self.evaluations is None else tried >= self.evaluations


def _budget(seconds: float, evaluations: int | None) -> _Budget:
    limit = None if evaluations is None else validate.size("evaluations", evaluations)
    return _Budget(time.monotonic() + validate.positive("seconds", seconds), limit)


def _worse(best: Step | None, step: Step) -> Step:
    """Return the step closer to breaking the claim, with the total number of instances."""
    if best is None or step.worst.holds is False or score(step.worst) > score(best.worst):
        return step
    return best._replace(num_instances=step.num_instances)


def _state(claim: Claim, step: Step, last: Hunt | None) -> Hunt:
    if last is not None and last.worst is step.worst:
        return last._replace(num_instances=step.num_instances)
    return Hunt(claim.key, step.worst, shortest(step.reads), step.num_instances, claim.home)


def _child(seeds: np.random.SeedSequence, number: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(seeds.entropy, spawn_key=(*seeds.spawn_key, number))


def _steps(
    claim: Claim, seeds: np.random.SeedSequence, start: tuple[float, ...], budget: _Budget, jobs: int
) -> Generator[Step, None, None]:
    """Yield the steps of one climb after the other, with the total number of instances; climbs are independent."""
    # Every second climb begins elsewhere, since a counterexample may be far from the worst instance.
    starts = ((_child(seeds, number), () if number % 2 else start) for number in count())
    limit, last = budget.evaluations, None
    with closing(_trails(claim, starts, budget, jobs)) as trails:
        for trail in trails:
            before = last.num_instances if last else 0
            for step in trail:
                tried = before + step.num_instances
                if last and limit is not None and tried > limit:
                    # A trail omits steps, and its process counts only its own instances.
                    yield last._replace(num_instances=limit)
                    return
                last = step._replace(num_instances=tried)
                yield last


def _trails(
    claim: Claim, starts: Iterator[_Start], budget: _Budget, jobs: int
) -> Generator[Iterable[Step], None, None]:
    jobs = min(jobs, budget.evaluations or jobs)  # each climb needs at least one instance
    if jobs == 1:
        yield from (climbs_in_turn(claim, *start) for start in starts)
        return
    from joblib import delayed

    with pool(jobs) as run:
        while True:
            yield from run(delayed(_trail)(sent(claim), *start, budget) for start in islice(starts, _BATCH * jobs))


def _trail(claim: Claim | str, seeds: np.random.SeedSequence, start: tuple[float, ...], budget: _Budget) -> list[Step]:
    """Return the steps of a climb that increased the score, and its last one."""
    trail: list[Step] = []
    for step in climbs_in_turn(received(claim), seeds, start):
        # The last but one increased the score, or is replaced by one that only counts more instances.
        if len(trail) > 1 and trail[-1].worst is trail[-2].worst:
            trail.pop()
        trail.append(step)
        if budget.is_spent(step.num_instances):
            break
    return trail
