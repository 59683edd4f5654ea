"""Named checks of user code, calls of user code whose errors become failures, and the execution of checks."""

import functools
import inspect
import random
import unittest
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Generic, ParamSpec, final

import numpy as np

from fedtheory._support import validate
from fedtheory._support.progress import announced
from fedtheory._support.validate import Array
from fedtheory._support.wording import truncate
from fedtheory.conformance.results import Conformance, Failure

P = ParamSpec("P")

FALSE_ALARMS = 1e-6
"""Largest probability with which one call rejects correct code; its random checks share it equally."""


_LONG = 10.0
"""Seconds after which the running check is named on standard error."""


@final
class Failed(Exception):
    """A failure of the code under check: one sentence, and a case that shows it."""

    check = ""
    """Name of the failed check if it is not the running one."""

    def __init__(self, sentence: str, **case: Any) -> None:
        self.sentence, self.case = sentence, case

    def of(self, check: str) -> "Failed":
        """Name the failed check."""
        self.check = check
        return self


def ask(function: Callable[..., Any], *args: Any, case: Mapping[str, Any]) -> Any:
    """Call a user's function; any exception becomes ``Failed``, with the case."""
    try:
        return function(*args)
    except Failed:  # the function received a function that detected a failure
        raise
    except Exception as error:
        raise Failed(f"raised {format_error(error)}", **case) from error
    except SystemExit as error:
        raise Failed(f"raised {type(error).__name__}, which ends the program", **case) from error


def numbers(answer: Any, shape: tuple[int, ...], case: Mapping[str, Any]) -> Array:
    """Return a user's answer as finite numbers of a shape; raise ``Failed`` if it is something else."""
    try:
        found = np.array(list(answer) if isinstance(answer, Iterable) else answer, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise Failed(f"must return numbers, got {truncate(answer)}", **case) from error
    if found.shape != shape:
        raise Failed(f"must return numbers of shape {shape}, got shape {found.shape}", **case)
    if not np.isfinite(found).all():
        raise Failed(f"must return finite numbers, got {found.tolist()}", **case)
    return found


def format_error(error: BaseException) -> str:
    """Format an exception as one short line."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # an error that cannot be printed
        text = ""
    return f"{type(error).__name__}: {text if len(text) < 200 else truncate(text)}".rstrip(": ")


@contextmanager
def undisturbed() -> Iterator[None]:
    """Restore the global generators of NumPy and Python afterwards, and ignore warnings."""
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
    """One check of user code.

    A call runs it: None if the code passes, otherwise an AssertionError with one sentence. A check that runs for long
    is named on standard error; Ctrl-C ends it. The function ``work`` raises ``Failed`` if the code does not pass.
    ``excuse`` is the reason why the check is skipped; it is empty if the check is run.
    """

    name: str
    work: Callable[[], Any]
    excuse: str = ""

    @property
    def __name__(self) -> str:
        """The name, from which pytest makes the id of a test."""
        return self.name

    def failure(self) -> Failure | None:
        """Run the check."""
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
    """Skip the excepted checks."""
    given = {} if exceptions is None else exceptions
    validate.instance("exceptions", given, Mapping, "a mapping from checks to reasons")
    names = [check.name for check in checks]
    for name, reason in given.items():
        if name not in names:
            message = f"exceptions must name checks, {', '.join(names)}, got {truncate(name)}"
            raise ValueError(message)
        if not str(reason).strip():
            message = f"exceptions must give reasons, got {truncate(reason)} for {name!r}"
            raise ValueError(message)
    return [replace(check, excuse=given.get(check.name, "")) for check in checks]


@final
class Kit(Generic[P]):
    """A function of the conformance kit: a call runs all checks, and ``checks`` returns them to be run one by one.

    Its first argument is the code under check.
    """

    __name__: str

    def __init__(self, checks: Callable[P, list[Check]]) -> None:
        functools.update_wrapper(self, checks)
        self.checks = checks
        self.__signature__ = inspect.signature(checks).replace(return_annotation=Conformance)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Conformance:
        subject, *_ = self.__signature__.bind(*args, **kwargs).args
        return conformance(named(subject), self.checks(*args, **kwargs))

    def __get__(self, instance: Any, owner: Any = None) -> "Kit[P]":
        # With this method inspect treats the object as a routine, which doctest and Sphinx require.
        return self


def conformance(subject: str, checks: Sequence[Check]) -> Conformance:
    """Run checks in their order; if the code does not run at all, only the first one."""
    made: list[str] = []
    failures: list[Failure] = []
    for check in checks:
        if check.excuse:
            continue
        made.append(check.name)
        failure = check.failure()
        if failure is not None:
            # For example, every check that draws detects clients out of range.
            failures += [failure] if failure.check not in [known.check for known in failures] else []
            if len(made) == 1:
                break
    excepted = {check.name: check.excuse for check in checks if check.excuse}
    return Conformance(subject, tuple(made), tuple(failures), excepted)


def seeded(works: Mapping[str, Callable[..., Any]], seeds: np.random.SeedSequence, *level: float) -> list[Check]:
    """Return checks by name, each of which takes its own seeds, and a level if there is one."""
    return [
        Check(name, lambda name=name, work=work: work(seeds_of(seeds, name), *level))  # type: ignore[misc]
        for name, work in works.items()
    ]


def seeds_of(rng: np.random.SeedSequence, name: str) -> np.random.SeedSequence:
    """Return seeds for one check that do not depend on which other checks are run."""
    return np.random.SeedSequence(rng.entropy, spawn_key=(*rng.spawn_key, zlib.crc32(name.encode())))


def named(value: Any) -> str:
    """Return the name of a user's function, or its printed form."""
    name = getattr(value, "__qualname__", None)
    return name.rpartition("<locals>.")[2] if isinstance(name, str) else truncate(value)


def leaves_inputs(function: Callable[..., Any], given: Mapping[str, Any], case: Mapping[str, Any]) -> None:
    """Call a function with copies of arrays, which it must not change."""
    own = {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in given.items()}
    ask(function, *own.values(), case=case)
    for name, before in given.items():
        if isinstance(before, np.ndarray) and own[name].tobytes() != before.tobytes():
            raise Failed(f"must not change {name}, got {own[name].tolist()} back", **case)


Draw = Callable[[np.random.Generator], Any]


def children(seeds: np.random.SeedSequence, count: int) -> list[np.random.SeedSequence]:
    """Return the same children at every call, unlike ``spawn``."""
    return [np.random.SeedSequence(seeds.entropy, spawn_key=(*seeds.spawn_key, i)) for i in range(count)]


def generator(seeds: np.random.SeedSequence) -> np.random.Generator:
    """Return the same generator at every call, even if a user's code spawns from it."""
    return np.random.default_rng(np.random.SeedSequence(seeds.entropy, spawn_key=seeds.spawn_key))


def same_generator(draw: Draw, seeds: np.random.SeedSequence, given: dict[str, Any]) -> None:
    """Draw twice with generators in the same state."""
    for seed in children(seeds, 10):
        one, two = (draw(generator(seed)) for _ in range(2))
        if not np.array_equal(one, two):
            raise Failed(
                f"equal states of the generator must give equal results, got {_text(one)} and {_text(two)}", **given
            )


def other_randomness(draw: Draw, seeds: np.random.SeedSequence, given: dict[str, Any]) -> None:
    """Draw with different states of NumPy's and Python's global generators, which must neither matter nor change."""
    for seed in children(seeds, 10):
        found = []
        for state in (1, 2):
            random.seed(state)
            np.random.seed(state)  # noqa: NPY002 (the generator that must not be used)
            before = _global_states()
            found.append(draw(generator(seed)))
            if _global_states() != before:
                raise Failed("must draw from its generator only, but changed a global generator", **given)
        if not np.array_equal(*found):
            raise Failed("must draw from its generator only, got another result with other global seeds", **given)


def _global_states() -> tuple[Any, ...]:
    name, keys, *rest = np.random.get_state()  # noqa: NPY002
    return random.getstate(), name, np.asarray(keys).tobytes(), tuple(rest)


def _text(value: Any) -> str:
    return truncate(value.tolist() if isinstance(value, np.ndarray) else list(value))
