"""Named checks, and what comes of making them one after the other."""

import random
import unittest
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from fedtheory._support import validate
from fedtheory._support.wording import short
from fedtheory.conformance._timeouts import Failed, Timer
from fedtheory.conformance.results import Conformance, Failure

FALSE_ALARMS = 1e-6
"""Probability at most with which a call refuses right code; its random checks share it equally."""


@final
@dataclass(frozen=True)
class Check:
    """One thing asked of somebody's code.

    Calling it makes the check: None if it is passed, an AssertionError with one sentence if not.

    Attributes
    ----------
    name
        What is asked, in a few words.
    work
        Raises ``Failed`` if the code does not pass.
    timer
        Ends calls that do not return.
    excuse
        Why it is not asked; empty if it is.
    """

    name: str
    work: Callable[[], Any]
    timer: Timer
    excuse: str = ""

    @property
    def __name__(self) -> str:
        """The name, where functions have theirs: pytest makes ids of it."""
        return self.name

    def failure(self) -> Failure | None:
        """Make the check."""
        try:
            self.timer.over(self.work)
        except Failed as broken:
            return Failure(broken.check or self.name, broken.sentence, broken.case)
        return None

    def __call__(self) -> None:
        """Raise an AssertionError if the code does not pass, SkipTest if that is excused."""
        if self.excuse:
            raise unittest.SkipTest(self.excuse)
        failure = self.failure()
        if failure is not None:
            raise AssertionError(str(failure))

    def __repr__(self) -> str:
        return f"<check {self.name!r}>"


def excused(checks: Sequence[Check], exceptions: Mapping[str, str]) -> list[Check]:
    """Excuse from the checks that are excepted.

    >>> timer = Timer(timeout=60.0)
    >>> asked = [Check("range", list, timer), Check("law", list, timer)]
    >>> [check.excuse for check in excused(asked, {"law": "it is not known"})]
    ['', 'it is not known']
    """
    names = [check.name for check in checks]
    validate.instance("exceptions", exceptions, Mapping, "a mapping from checks to reasons")
    for name, reason in exceptions.items():
        if name not in names:
            message = f"exceptions must name checks, {', '.join(names)}, got {name!r}"
            raise ValueError(message)
        if not str(reason).strip():
            message = f"exceptions must give reasons, got {short(reason)} for {name!r}"
            raise ValueError(message)
    return [replace(check, excuse=exceptions.get(check.name, "")) for check in checks]


def conformance(subject: str, checks: Sequence[Check], exceptions: Mapping[str, str]) -> Conformance:
    """Make checks in their order; none after the first one if code does not run at all, or after one that hangs.

    >>> timer = Timer(timeout=60.0)
    >>> asked = [Check("range", list, timer), Check("law", list, timer)]
    >>> conformance("draw", asked, {"law": "it is not known"}).checks
    ('range',)
    """
    made: list[str] = []
    failures: list[Failure] = []
    for check in excused(checks, exceptions):
        if check.excuse:
            continue
        made.append(check.name)
        failure = check.failure()
        if failure is not None:
            # Out of range, say, is found by every check that draws.
            failures += [failure] if failure.check not in [known.check for known in failures] else []
            if len(made) == 1 or check.timer.hung:
                break
    return Conformance(subject, tuple(made), tuple(failures), dict(exceptions))


def seeds_of(rng: np.random.SeedSequence, name: str) -> np.random.SeedSequence:
    """Return seeds for one check, which do not depend on which others are made.

    >>> seeds = np.random.SeedSequence(2)
    >>> seeds_of(seeds, "box").spawn_key == seeds_of(seeds, "ties").spawn_key
    False
    """
    return np.random.SeedSequence(rng.entropy, spawn_key=(*rng.spawn_key, zlib.crc32(name.encode())))


def named(value: Any) -> str:
    """Return the name of somebody's function, or how the value prints.

    >>> named(len), named(3)
    ('len', '3')
    """
    name = getattr(value, "__qualname__", None)
    return name.rpartition("<locals>.")[2] if isinstance(name, str) else short(value)


Draw = Callable[[np.random.Generator], Any]


def children(seeds: np.random.SeedSequence, count: int) -> list[np.random.SeedSequence]:
    """Return the same children again at every call, which spawning would not."""
    return [np.random.SeedSequence(seeds.entropy, spawn_key=(*seeds.spawn_key, i)) for i in range(count)]


def generator(seeds: np.random.SeedSequence) -> np.random.Generator:
    """Return the same generator again at every call: also one from which other people's code spawns."""
    return np.random.default_rng(np.random.SeedSequence(seeds.entropy, spawn_key=seeds.spawn_key))


def same_generator(draw: Draw, seeds: np.random.SeedSequence, given: dict[str, Any]) -> None:
    """Draw twice with generators in the same state."""
    for seed in children(seeds, 10):
        one, two = (draw(generator(seed)) for _ in range(2))
        if not np.array_equal(one, two):
            raise Failed(f"generators in the same state must give the same, got {_text(one)} and {_text(two)}", **given)


def other_randomness(draw: Draw, seeds: np.random.SeedSequence, given: dict[str, Any]) -> None:
    """Draw with NumPy's and Python's global generators in other states: they must neither matter nor move."""
    for seed in children(seeds, 10):
        found = []
        for state in (1, 2):
            random.seed(state)
            np.random.seed(state)  # noqa: NPY002 (the generator that must not be used)
            before = _global_states()
            found.append(draw(generator(seed)))
            if _global_states() != before:
                raise Failed("must draw from its generator only, and moved a global one", **given)
        if not np.array_equal(*found):
            raise Failed("must draw from its generator only, got something else with other global seeds", **given)


def _global_states() -> tuple[Any, ...]:
    name, keys, *rest = np.random.get_state()  # noqa: NPY002
    return random.getstate(), name, np.asarray(keys).tobytes(), tuple(rest)


def _text(value: Any) -> str:
    return short(value.tolist() if isinstance(value, np.ndarray) else list(value))
