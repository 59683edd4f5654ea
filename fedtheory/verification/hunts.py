"""Hunts for counterexamples: steer a claim's check towards the instances that strain it most."""

import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import count
from typing import NamedTuple

import numpy as np

from fedtheory._support import validate
from fedtheory.verification._processes import in_order, number_of_jobs
from fedtheory.verification._search import Step, climbs_in_turn, height, shrink
from fedtheory.verification.catalogue import one_claim
from fedtheory.verification.claims import Claim, replay_command, shortest_tape
from fedtheory.verification.findings import Finding

__all__ = ["hunt"]

# Climbs have the numbers 0, 1, ... as children of the seed; what makes a counterexample small has this one.
_SHRINKING = 2**32 - 1


class Hunt(NamedTuple):
    """What a hunt found.

    Attributes
    ----------
    key
        Key of the claim.
    worst
        The finding that strains the claim most, or a small one that breaks it.
    tape
        The numbers behind its instance: ``replay(claim, tape)`` gives it again.
    num_instances
        How many instances were tried.
    home
        The file that the claim was read from, if it is none of the package's.
    """

    key: str
    worst: Finding
    tape: tuple[float, ...]
    num_instances: int
    home: str = ""

    @property
    def command(self) -> str:
        """The line for a shell that checks the instance again."""
        return replay_command(self.key, home=self.home, tape=self.tape)


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
    """Look for the instance that strains a claim most: measured over predicted is maximized over its random numbers.

    Climbs from random instances, one after the other, go uphill by changes of single numbers and of blocks, and where
    numbers are used as they are, by an evolution strategy. The first instance that breaks the claim ends the hunt, and
    is made small: few numbers (clients, dimensions), short ones, small ones. Exact checks are exact here, too.

    Parameters
    ----------
    claim
        The claim, or its key; its check must draw by ``rng.random`` and ``rng.integers`` only.
    seconds
        Time to hunt, on the clock of the wall; half of it may be added for making a counterexample small.
    rng
        Seed, SeedSequence or Generator.
    evaluations
        Most instances to try, in the place of the time: with them the same seed finds the same instance, whatever the
        number of jobs. As many may be added for making a counterexample small.
    start
        Tape that every second climb begins with: of the worst instance of an earlier hunt, say.
    jobs
        Number of processes.
    small
        Whether to make a counterexample small.

    Returns
    -------
    Hunt
        The worst instance, its tape, and how many were tried.

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
) -> Iterator[Hunt]:
    """Yield what ``hunt`` has found so far, after each instance tried; with several jobs, after each climb.

    >>> [last] = list(hunting("power-of-choice:lemma-b1", evaluations=20))[-1:]
    >>> last.worst.holds
    True
    """
    hunted = one_claim(claim) if isinstance(claim, str) else claim
    budget = _budget(seconds, evaluations)
    seeds, jobs = validate.seed_sequence(rng), number_of_jobs(jobs)
    best: Step | None = None
    state: Hunt | None = None
    with closing(_steps(hunted, seeds, tuple(start), budget, jobs)) as steps:
        for step in steps:
            best = _worse(best, step)
            state = _state(hunted, best, state)
            yield state
            if best.worst.holds is False or not best.reads or budget.is_spent(best.num_instances):
                break
    if small and best is not None and best.worst.holds is False:
        tried = best.num_instances
        rest = _budget(seconds / 2, None if evaluations is None else tried + evaluations)
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
    """Return the one that strains the claim more, with all instances counted."""
    if best is None or step.worst.holds is False or height(step.worst) > height(best.worst):
        return step
    return best._replace(num_instances=step.num_instances)


def _state(claim: Claim, step: Step, last: Hunt | None) -> Hunt:
    if last is not None and last.worst is step.worst:
        return last._replace(num_instances=step.num_instances)
    return Hunt(claim.key, step.worst, shortest_tape(step.reads), step.num_instances, claim.home)


def _child(seeds: np.random.SeedSequence, number: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(seeds.entropy, spawn_key=(*seeds.spawn_key, number))


def _steps(
    claim: Claim, seeds: np.random.SeedSequence, start: tuple[float, ...], budget: _Budget, jobs: int
) -> Generator[Step, None, None]:
    """Yield the steps of one climb after the other, with all instances counted; climbs do not know of each other."""
    # Every second climb begins with the tape: what breaks the claim may be far from where it is strained most.
    starts = ((_child(seeds, number), () if number % 2 else start) for number in count())
    limit, last = budget.evaluations, None
    with closing(_trails(claim, starts, budget, jobs)) as trails:
        for trail in trails:
            before = last.num_instances if last else 0
            for step in trail:
                tried = before + step.num_instances
                if last and limit is not None and tried > limit:
                    # A trail leaves steps out, and another process does not know what was tried before it.
                    yield last._replace(num_instances=limit)
                    return
                last = step._replace(num_instances=tried)
                yield last


def _trails(
    claim: Claim, starts: Iterator[_Start], budget: _Budget, jobs: int
) -> Generator[Iterable[Step], None, None]:
    if budget.evaluations is not None:
        jobs = min(jobs, budget.evaluations)  # a climb takes one at least
    if jobs == 1:
        yield from (climbs_in_turn(claim, *start) for start in starts)
        return
    with closing(in_order(partial(_trail, budget=budget), ((claim, *start) for start in starts), jobs)) as trails:
        yield from trails


def _trail(claim: Claim, seeds: np.random.SeedSequence, start: tuple[float, ...], budget: _Budget) -> list[Step]:
    """Return the steps of a climb that went up, and its last one."""
    trail: list[Step] = []
    for step in climbs_in_turn(claim, seeds, start):
        # The last but one went up, or it is overwritten by one that only counts more instances.
        if len(trail) > 1 and trail[-1].worst is trail[-2].worst:
            trail.pop()
        trail.append(step)
        if budget.is_spent(step.num_instances):
            break
    return trail
