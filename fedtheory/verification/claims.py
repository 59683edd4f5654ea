"""What a claim is: a published statement with one check, and its instances, drawn from a seed or read off a tape."""

import json
import math
import re
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from importlib.resources import files
from inspect import isfunction, signature
from shlex import quote
from typing import Any, NamedTuple, cast, final

import numpy as np

from fedtheory._support import validate
from fedtheory._support.wording import short
from fedtheory.theorem.bound import Bound
from fedtheory.theorem.paper import Statement
from fedtheory.verification.findings import FAILS, HOLDS, Finding, is_number

__all__ = ["Claim", "claim", "known_tapes", "replay", "reproduce"]

KINDS = ("identity", "inequality", "optimality", "rate", "erratum", "refuted conjecture", "reproduction")
# Kinds of claims that must fail: what is false in print, and a tempting guess that nobody printed.
REFUTED = ("erratum", "refuted conjecture")
BUDGETS = ("quick", "thorough")

Check = Callable[[np.random.Generator], Finding]
"""Draws one instance from the generator and says what it shows."""


@final
@dataclass(frozen=True)
class Claim:
    """A statement that can be checked, instance by instance.

    Attributes
    ----------
    key
        ``paper:statement``, lower case, for example ``power-of-choice:lemma-b2``.
    title
        One line that says what is claimed.
    statement
        The source, with the form (printed, corrected, derived, refined) that the check follows.
    kind
        One of ``KINDS``: an ``erratum`` is about what a paper prints, a ``refuted conjecture`` about a guess of others.
    check
        Draws one instance from the generator and says what it shows. Pytest, the command line and the counterexample
        search all call this one function. It should use ``rng.random`` and ``rng.integers`` only, so that the search
        can steer it.
    hypotheses
        What must hold, in words; by default what the bound assumes.
    expected
        The verdict that the theory says is right: ``fails`` for an erratum and for a refuted conjecture.
    instances
        Numbers of instances at the quick and at the thorough budget; (1, 1) for a single deterministic instance.
    bound
        The bound whose value the check compares with, if there is one.
    remark
        What a reader of the verdict should know.
    looseness
        By how much an inequality can be tightened at most before instances refute it: how sharply its check tests it.
    home
        The file or module that the claim was read from, if it is none of the package's.

    Raises
    ------
    ValueError
        If the key, the kind, the expected verdict or the numbers of instances are not of these forms.
    """

    key: str
    title: str
    statement: Statement
    kind: str
    check: Check
    hypotheses: tuple[str, ...] = ()
    expected: str = HOLDS
    instances: tuple[int, int] = (20, 400)
    bound: Bound | None = None
    remark: str = ""
    looseness: float | None = None
    home: str = ""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9-]+:[a-z0-9.-]+", self.key):
            message = f"key must look like 'paper:statement' in lower case, got {self.key!r}"
            raise ValueError(message)
        if self.kind not in KINDS:
            message = f"{self.key}: kind must be one of {', '.join(KINDS)}, got {self.kind!r}"
            raise ValueError(message)
        if self.expected not in (HOLDS, FAILS):
            message = f"{self.key}: expected must be {HOLDS!r} or {FAILS!r}, got {self.expected!r}"
            raise ValueError(message)
        _check_instances(self.key, self.instances)
        _check_looseness(self.key, self.looseness)
        if self.bound is not None and not self.hypotheses:
            object.__setattr__(self, "hypotheses", tuple(hypothesis.text for hypothesis in self.bound.hypotheses))

    @property
    def is_single(self) -> bool:
        """Whether the check has just one instance, which it finds without randomness."""
        return self.instances == (1, 1)

    def num_instances(self, budget: str) -> int:
        """Return the number of instances at a budget."""
        return self.instances[BUDGETS.index(budget)]


def claim(
    key: str,
    title: str,
    source: Bound | Statement,
    kind: str = "inequality",
    *,
    hypotheses: tuple[str, ...] = (),
    also: tuple[str, ...] = (),
    expected: str | None = None,
    instances: tuple[int, int] = (20, 400),
    looseness: float | None = None,
    remark: str = "",
) -> Callable[[Callable[..., Finding]], Claim]:
    """Make the claim that a check decides: ``@claim(key, title, source)`` stands above the check.

    A check without an argument draws nothing, and has a single instance.

    Parameters
    ----------
    key, title, kind, instances, looseness, remark
        As of ``Claim``.
    source
        The bound whose value the check compares with, which knows its statement, or a statement.
    hypotheses
        What must hold, in words; by default what the bound assumes.
    also
        Hypotheses that the check needs in addition to those.
    expected
        By default ``fails`` for an erratum and for a refuted conjecture, ``holds`` otherwise.

    Returns
    -------
    Callable[[Callable[..., Finding]], Claim]
        A decorator, which turns a check into a claim.

    Raises
    ------
    ValueError
        If the key is not like ``paper:statement``, the kind or the verdict is none of the known ones, a number of
        instances is below 1, or the looseness is not above 1.

    Examples
    --------
    >>> from fedtheory.bounds.power_of_choice import gradient_norm
    >>> from fedtheory.verification.findings import at_most
    >>> @claim("textbook:parabola", "|F'(w)|^2 <= 2 L (F(w) - F*) for F(w) = L w^2/2", gradient_norm, looseness=1.01)
    ... def parabola(rng):
    ...     L, w = (int(rng.integers(1, 9)) for _ in range(2))
    ...     return at_most((L * w) ** 2, gradient_norm(L * w**2 / 2, L=L), instance={"L": L, "w": w})
    >>> parabola.check(np.random.default_rng(0)).ratio
    1.0
    """
    _check_looseness(key, looseness)
    _check_instances(key, instances)
    bound, statement = (None, source) if isinstance(source, Statement) else (source, source.statement)
    assumed = hypotheses or tuple(hypothesis.text for hypothesis in (bound.hypotheses if bound else ()))
    verdict = expected or (FAILS if kind in REFUTED else HOLDS)

    def attach(check: Callable[..., Finding]) -> Claim:
        known = (key, title, statement, kind)
        if signature(check).parameters:
            return Claim(*known, check, (*assumed, *also), verdict, instances, bound, remark, looseness)

        @wraps(check)
        def drawing_nothing(_: np.random.Generator) -> Finding:
            return check()

        return Claim(*known, drawing_nothing, (*assumed, *also), verdict, (1, 1), bound, remark, looseness)

    return attach


def _check_instances(key: str, instances: Any) -> None:
    if not (isinstance(instances, tuple) and len(instances) == len(BUDGETS)):
        message = f"{key}: instances must be a tuple of {len(BUDGETS)} whole numbers, got {short(instances)}"
        raise TypeError(message)
    for one in instances:
        validate.size(f"{key}: instances", one)


def _check_looseness(key: str, looseness: Any) -> None:
    if looseness is not None and not (is_number(looseness) and looseness > 1):
        message = f"{key}: looseness must be greater than 1, got {short(looseness)}"
        raise ValueError(message)


def is_own(claim: Claim) -> bool:
    """Whether a claim is somebody's own: out of a file of theirs, or with a check that the library does not have."""
    module = claim.check.__module__ if isfunction(claim.check) else "fedtheory"
    return bool(claim.home) or (module or "").partition(".")[0] != "fedtheory"


STORED = -1
"""Number of the worst known instance, which is stored with the package."""


def known_tapes() -> dict[str, tuple[float, ...]]:
    """Tapes of the worst known instances of inequalities, by key of the claim, as long searches found them.

    Returns
    -------
    dict[str, tuple[float, ...]]
        Random numbers between 0 and 1, in the order in which a check reads them.

    Examples
    --------
    >>> all(0 <= number < 1 for tape in known_tapes().values() for number in tape)
    True
    """
    text = files("fedtheory.claims").joinpath("worst_tapes.json").read_text(encoding="utf-8")
    return {key: tuple(tape) for key, tape in json.loads(text).items()}


def reproduce(claim: Claim, rng: validate.RNGLike, index: int) -> Finding:
    """Check one numbered instance of a claim again, -1 for the stored one; what the check raises is raised again.

    Parameters
    ----------
    claim
        Whose check to make.
    rng
        Seed or SeedSequence of the verdict.
    index
        Number of the instance, -1 for the stored one.

    Returns
    -------
    Finding
        What the instance shows.

    Raises
    ------
    ValueError
        If the index is below -1, or -1 for a claim without a stored instance.
    Exception
        Whatever the check raises.

    Examples
    --------
    >>> from fedtheory.verification.catalogue import one_claim
    >>> reproduce(one_claim("power-of-choice:lemma-b1"), rng=0, index=3).holds
    True
    """
    if validate.count("index", index, STORED) == STORED:
        tapes = known_tapes()
        if claim.key not in tapes:
            message = f"claim must be one whose worst instance is stored, got {claim.key!r}"
            raise ValueError(message)
        return replay(claim, tapes[claim.key])
    seeds = validate.seed_sequence(rng)
    own = (*seeds.spawn_key, zlib.crc32(claim.key.encode()), validate.horizon("index", index))
    return _checked(claim.check(np.random.default_rng(np.random.SeedSequence(seeds.entropy, spawn_key=own))))


def _checked(finding: Any) -> Finding:
    if not isinstance(finding, Finding):
        message = f"a check must return a Finding, got {finding!r}"
        raise TypeError(message)
    return finding


def replay(claim: Claim, tape: Sequence[float]) -> Finding:
    """Check the instance that a tape stands for.

    Parameters
    ----------
    claim
        Whose check to make.
    tape
        Between 0 and 1; what is read beyond comes from the seed 0.

    Returns
    -------
    Finding
        What the instance shows.

    Raises
    ------
    TypeError, ValueError
        If the tape is no sequence of numbers in [0, 1].
    Exception
        Whatever the check raises.

    Examples
    --------
    >>> from fedtheory.verification.catalogue import one_claim
    >>> lemma = one_claim("power-of-choice:lemma-b1")
    >>> replay(lemma, [0.5, 0.25]).measured == replay(lemma, [0.5, 0.25]).measured
    True
    """
    for number in validate.sequence("tape", tape):
        validate.fraction("tape", number)
    return _checked(on_tape(claim, tape, np.random.default_rng(0))[0])


def replay_command(
    key: str, *, home: str = "", tape: Iterable[float] | None = None, number: int = STORED, seed: Any = None
) -> str:
    """Return the line for a shell that checks an instance again: that of a tape, or a numbered one of a SeedSequence.

    >>> replay_command("a:b", tape=[0.0, 0.5])
    'python -m fedtheory replay a:b --tape 0.0,0.5'
    >>> replay_command("a:b", number=7, seed=np.random.SeedSequence(3, spawn_key=(1, 2)))
    'python -m fedtheory replay a:b --seed 3 --spawn-key 1,2 --instance 7'
    >>> replay_command("a:b", home="my claims.py")
    "python -m fedtheory replay a:b --from 'my claims.py'"
    """
    words = [f"python -m fedtheory replay {key}", *([f"--from {quote(home)}"] if home else [])]
    if tape is not None:
        words.append(f"--tape {','.join(map(repr, tape)) or 'none'}")
    elif number != STORED:
        spawned = f" --spawn-key {','.join(map(str, seed.spawn_key))}" if seed.spawn_key else ""
        words.append(f"--seed {seed.entropy}{spawned} --instance {number}")
    return " ".join(words)


class Read(NamedTuple):
    """One number that a check read, and between how many whole numbers it decided; 0 where it was used as it is."""

    number: float
    levels: int

    @property
    def level(self) -> int:
        """Which of the whole numbers it stands for, from 0."""
        return math.floor(self.number * self.levels)

    @property
    def essence(self) -> float:
        """What the check saw: equal for two numbers that stand for the same."""
        return self.level if self.levels else self.number


@final
class Tape:
    """Uniform numbers on record, read through the two methods of a Generator that checks use.

    What lies beyond the record is drawn from a generator and added to it.
    """

    def __init__(self, numbers: Iterable[float], rng: np.random.Generator) -> None:
        self._record = list(numbers)
        self._rng = rng
        self.reads: list[Read] = []

    def _next(self, levels: int) -> float:
        place = len(self.reads)
        number = self._record[place] if place < len(self._record) else float(self._rng.random())
        self.reads.append(Read(number, levels))
        return number

    def random(self, size: Any = None) -> Any:
        """Return uniform numbers in [0, 1)."""
        return self._drawn(size, 0)

    def integers(self, low: int, high: int | None = None, size: Any = None) -> Any:
        """Return whole numbers in low..high-1, or in 0..low-1."""
        first, last = (0, low) if high is None else (low, high)
        drawn = first + np.floor(np.asarray(self._drawn(size, last - first)) * (last - first)).astype(np.int64)
        return int(drawn) if size is None else drawn

    def _drawn(self, size: Any, levels: int) -> Any:
        if size is None:
            return self._next(levels)
        return np.array([self._next(levels) for _ in range(int(np.prod(size)))]).reshape(size)


def on_tape(claim: Claim, numbers: Iterable[float], rng: np.random.Generator) -> tuple[Finding, tuple[Read, ...]]:
    """Check the instance that begins with these numbers; return what it shows with all that the check read.

    What is read beyond them is drawn. Whatever the check raises is raised with the tape as a note.

    >>> from fedtheory.verification.catalogue import one_claim
    >>> finding, read = on_tape(one_claim("power-of-choice:lemma-b1"), [0.5, 0.25], np.random.default_rng(0))
    >>> finding.holds, [one.number for one in read[:2]]
    (True, [0.5, 0.25])
    """
    tape = Tape(numbers, rng)
    try:
        finding = claim.check(cast(np.random.Generator, tape))
    except Exception as error:
        error.add_note(f"on the tape {shortest_tape(tape.reads)}")
        raise
    return finding, tuple(tape.reads)


def shortest_tape(reads: Iterable[Read]) -> tuple[float, ...]:
    """Return a tape of the same instance, each choice between whole numbers with as few decimals as tell it.

    >>> shortest_tape([Read(0.123456, 0), Read(0.123456, 2), Read(0.99, 3), Read(0.4, 33)])
    (0.123456, 0.0, 0.7, 0.4)
    """
    return tuple(_shortest(read) if read.levels else read.number for read in reads)


def _shortest(read: Read) -> float:
    for decimals in range(17):
        scale = 10**decimals
        number: float = math.ceil(read.level * scale / read.levels) / scale
        if number < 1 and math.floor(number * read.levels) == read.level:
            return number
    return read.number
