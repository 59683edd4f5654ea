"""Tapes: the uniform numbers behind an instance, on record, so that it can be drawn again and changed on purpose."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast, final

import numpy as np

from fedtheory._support import validate
from fedtheory.verification.claims import Claim
from fedtheory.verification.findings import Finding

__all__ = ["Tape", "replay"]


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
    """Check the instance that begins with these numbers, and return what it shows with all that the check read.

    Parameters
    ----------
    claim
        Whose check to make.
    numbers
        Between 0 and 1; what is read beyond them is drawn.
    rng
        Draws what is beyond the tape.

    Returns
    -------
    tuple[Finding, tuple[Read, ...]]
        The finding, and what was read.

    Raises
    ------
    Exception
        Whatever the check raises, with the tape as a note.

    Examples
    --------
    >>> from fedtheory.verification.catalogue import one_claim
    >>> finding, read = on_tape(one_claim("power-of-choice:lemma-b1"), [0.5, 0.25], np.random.default_rng(0))
    >>> finding.holds, [one.number for one in read[:2]]
    (True, [0.5, 0.25])
    """
    tape = Tape(numbers, rng)
    try:
        finding = claim.check(cast(np.random.Generator, tape))
    except Exception as error:
        error.add_note(f"on the tape {written(tape.reads)}")
        raise
    return finding, tuple(tape.reads)


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


def written(reads: Iterable[Read]) -> tuple[float, ...]:
    """Return a tape of the same instance, each choice between whole numbers with as few decimals as tell it.

    Parameters
    ----------
    reads
        What a check read.

    Returns
    -------
    tuple[float, ...]
        As many numbers, each between 0 and 1.

    Examples
    --------
    >>> written([Read(0.123456, 0), Read(0.123456, 2), Read(0.99, 3), Read(0.4, 33)])
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
