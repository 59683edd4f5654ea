"""Named checks of a user's code, calls of it whose errors become failures, and what comes of making the checks."""

import random
import unittest
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from fedtheory._support import validate
from fedtheory._support.progress import announced
from fedtheory._support.wording import short
from fedtheory.conformance.results import Conformance, Failure

FALSE_ALARMS = 1e-6
"""Probability at most with which a call refuses right code; its random checks share it equally."""


_LONG = 10.0
"""Seconds after which a line on standard error names the check that is being made."""


@final
class Failed(Exception):
    """What is wrong with the code under check: one sentence, and the case that shows it."""

    check = ""
    """The check that it fails, if another one found it."""

    def __init__(self, sentence: str, **case: Any) -> None:
        self.sentence, self.case = sentence, case

    def of(self, check: str) -> "Failed":
        """Name the check that the code fails."""
        self.check = check
        return self


def ask(function: Callable[..., Any], *args: Any, case: Mapping[str, Any]) -> Any:
    """Call a user's function; whatever it raises becomes ``Failed``, with the case.

    >>> ask(lambda: 1 / 0, case={})
    Traceback (most recent call last):
        ...
    fedtheory.conformance._checks.Failed: raised ZeroDivisionError: division by zero
    """
    try:
        return function(*args)
    except Failed:  # the function was handed a function that found something wrong
        raise
    except Exception as error:
        raise Failed(f"raised {in_words(error)}", **case) from error
    except SystemExit as error:
        raise Failed(f"raised {type(error).__name__}, which ends the program", **case) from error


def in_words(error: BaseException) -> str:
    """Return an exception as one short line."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # an error that cannot even be printed
        text = ""
    return f"{type(error).__name__}: {text if len(text) < 200 else short(text)}".rstrip(": ")


@contextmanager
def undisturbed() -> Iterator[None]:
    """Put the global generators of NumPy and Python back, and ignore warnings."""
    states = random.getstate(), np.random.get_state()  # noqa: NPY002 (a user's code may use it)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002


@final
@dataclass(frozen=True)
class Check:
    """One demand on a user's code.

    Calling it makes the check: None if the code passes, an AssertionError with one sentence if not. A check that takes
    long is named on standard error; Ctrl-C ends it.

    Attributes
    ----------
    name
        What is demanded, in a few words.
    work
        Raises ``Failed`` if the code does not pass.
    excuse
        Why it is left out; empty if it is made.
    """

    name: str
    work: Callable[[], Any]
    excuse: str = ""

    @property
    def __name__(self) -> str:
        """The name, where functions have theirs: pytest makes ids of it."""
        return self.name

    def failure(self) -> Failure | None:
        """Make the check."""
        try:
            with undisturbed(), announced(f"the check {self.name!r} is running", _LONG):
                self.work()
        except Failed as broken:
            return Failure(broken.check or self.name, broken.sentence, broken.case)
        except KeyboardInterrupt as error:
            error.add_note(f"in the check {self.name!r}")
            raise
        return None

    def __call__(self) -> None:
        """Raise an AssertionError if the code does not pass, SkipTest if the check is excused."""
        if self.excuse:
            raise unittest.SkipTest(self.excuse)
        failure = self.failure()
        if failure is not None:
            raise AssertionError(str(failure))

    def __repr__(self) -> str:
        return f"<check {self.name!r}>"


def excused(checks: Sequence[Check], exceptions: Mapping[str, str] | None) -> list[Check]:
    """Excuse the code from the checks that are excepted.

    >>> made = [Check("range", list), Check("law", list)]
    >>> [check.excuse for check in excused(made, {"law": "it is not known"})]
    ['', 'it is not known']
    """
    given = {} if exceptions is None else exceptions
    validate.instance("exceptions", given, Mapping, "a mapping from checks to reasons")
    names = [check.name for check in checks]
    for name, reason in given.items():
        if name not in names:
            message = f"exceptions must name checks, {', '.join(names)}, got {short(name)}"
            raise ValueError(message)
        if not str(reason).strip():
            message = f"exceptions must give reasons, got {short(reason)} for {name!r}"
            raise ValueError(message)
    return [replace(check, excuse=given.get(check.name, "")) for check in checks]


def conformance(subject: str, checks: Sequence[Check], exceptions: Mapping[str, str] | None) -> Conformance:
    """Make checks in their order, none after the first one if the code does not run at all.

    >>> conformance("draw", [Check("range", list), Check("law", list)], {"law": "it is not known"}).checks
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
            # Clients out of range, say, are found by every check that draws.
            failures += [failure] if failure.check not in [known.check for known in failures] else []
            if len(made) == 1:
                break
    return Conformance(subject, tuple(made), tuple(failures), dict(exceptions or {}))


def at_level(
    work: Callable[[np.random.SeedSequence, float], None], name: str, seeds: np.random.SeedSequence, level: float
) -> None:
    """Make a check with its own seeds."""
    work(seeds_of(seeds, name), level)


def seeds_of(rng: np.random.SeedSequence, name: str) -> np.random.SeedSequence:
    """Return seeds for one check, which do not depend on which others are made.

    >>> seeds = np.random.SeedSequence(2)
    >>> seeds_of(seeds, "box").spawn_key == seeds_of(seeds, "ties").spawn_key
    False
    """
    return np.random.SeedSequence(rng.entropy, spawn_key=(*rng.spawn_key, zlib.crc32(name.encode())))


def named(value: Any) -> str:
    """Return the name of a user's function, or how the value prints.

    >>> named(len), named(3)
    ('len', '3')
    """
    name = getattr(value, "__qualname__", None)
    return name.rpartition("<locals>.")[2] if isinstance(name, str) else short(value)


def leaves_inputs(function: Callable[..., Any], given: Mapping[str, Any], case: Mapping[str, Any]) -> None:
    """Call a function with copies of arrays, which it must leave as they are."""
    own = {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in given.items()}
    ask(function, *own.values(), case=case)
    for name, before in given.items():
        if isinstance(before, np.ndarray) and own[name].tobytes() != before.tobytes():
            raise Failed(f"must leave {name} as they are, got {own[name].tolist()} back", **case)


Draw = Callable[[np.random.Generator], Any]


def children(seeds: np.random.SeedSequence, count: int) -> list[np.random.SeedSequence]:
    """Return the same children again at every call, which spawning would not."""
    return [np.random.SeedSequence(seeds.entropy, spawn_key=(*seeds.spawn_key, i)) for i in range(count)]


def generator(seeds: np.random.SeedSequence) -> np.random.Generator:
    """Return the same generator again at every call: also one from which a user's code spawns."""
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
