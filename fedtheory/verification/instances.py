"""Instances of a claim: drawn from a seed by their number, or read off a tape, and how a shell checks one again.

A tape holds the uniform numbers behind an instance, so that it can be drawn again and changed on purpose.
"""

import math
import zlib
from collections.abc import Iterable, Sequence
from shlex import quote
from typing import Any, NamedTuple, cast, final

import numpy as np

from fedtheory._support import validate
from fedtheory.verification.catalogue import known_tapes
from fedtheory.verification.claims import Claim
from fedtheory.verification.findings import Finding

__all__ = ["replay", "reproduce"]

STORED = -1
"""Number of the worst known instance, which is stored with the package."""


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
        return checked(replay(claim, _stored(claim)))
    seeds = validate.seed_sequence(rng)
    own = (*seeds.spawn_key, zlib.crc32(claim.key.encode()), validate.horizon("index", index))
    return checked(claim.check(np.random.default_rng(np.random.SeedSequence(seeds.entropy, spawn_key=own))))


def _stored(claim: Claim) -> tuple[float, ...]:
    tapes = known_tapes()
    if claim.key not in tapes:
        message = f"claim must be one whose worst instance is stored, got {claim.key!r}"
        raise ValueError(message)
    return tapes[claim.key]


def checked(finding: Any) -> Finding:
    """Return what a check gave; TypeError if it is no finding."""
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
    return on_tape(claim, tape, np.random.default_rng(0))[0]


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
