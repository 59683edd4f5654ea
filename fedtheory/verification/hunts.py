"""Searches for counterexamples."""

import time
from collections.abc import Generator, Iterator, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np

from fedtheory._support import validate
from fedtheory.claims.catalogue import one_claim
from fedtheory.theorem.claims import Claim
from fedtheory.theorem.findings import Finding
from fedtheory.verification._search import Step, climbs_in_turn, score, shrink
from fedtheory.verification.instances import shortest

__all__ = ["hunt"]

# The climbs 0, 1, ... use children of the seed with these numbers; shrinking uses this one.
_SHRINKING = 2**32 - 1


class Hunt(NamedTuple):
    """Result of a hunt: the finding closest to breaking the claim, or a small counterexample, and its choices.

    ``replay(claim, choices)`` checks its instance again. ``home`` is that of the claim.
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
    small: bool = True,
) -> Hunt:
    """Search for a counterexample to a claim by maximizing the ratio measured/predicted.

    The search climbs from many random instances by changes of single numbers and of blocks, and by an evolution
    strategy for continuous numbers. It ends at the first counterexample, which is then shrunk: to fewer numbers
    (clients, dimensions), and to shorter and smaller ones. Exact checks remain exact.

    Parameters
    ----------
    seconds
        Wall-clock time of the search; shrinking may take half of it in addition.
    evaluations
        Largest number of instances, in place of the time; shrinking may try as many in addition. Equal seeds and
        numbers give the same instance.
    start
        Choices at which every second climb begins, for example those of an earlier hunt.

    Examples
    --------
    >>> hunt("power-of-choice:lemma-b1", evaluations=20).worst.holds
    True
    """
    validate.boolean("small", small)
    *_, last = hunting(claim, seconds, rng, evaluations=evaluations, start=start, small=small)
    return last


def hunting(
    claim: Claim | str,
    seconds: float = 30.0,
    rng: validate.RNGLike = 0,
    *,
    evaluations: int | None = None,
    start: Sequence[float] = (),
    small: bool = True,
) -> Generator[Hunt, None, None]:
    """Yield the result of ``hunt`` so far, after each instance."""
    from threadpoolctl import threadpool_limits

    hunted = one_claim(claim) if isinstance(claim, str) else claim
    budget, seeds = _budget(seconds, evaluations), validate.seed_sequence(rng)
    best: Step | None = None
    state: Hunt | None = None
    # The last digits of linear algebra depend on the number of threads.
    with threadpool_limits(1):
        for step in _steps(hunted, seeds, tuple(start)):
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


def _steps(claim: Claim, seeds: np.random.SeedSequence, start: tuple[float, ...]) -> Iterator[Step]:
    """Yield the steps of one climb after the other, with the total number of instances; climbs are independent."""
    before = 0
    for number in count():
        # Every second climb begins elsewhere, since a counterexample may be far from the worst instance.
        for step in climbs_in_turn(claim, _child(seeds, number), () if number % 2 else start):
            last = step._replace(num_instances=before + step.num_instances)
            yield last
        before = last.num_instances
