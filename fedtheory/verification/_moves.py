"""Moves on a tape: changes of the numbers behind an instance, for a climber to try."""

from collections.abc import Sequence

import numpy as np

from fedtheory.verification.tapes import Read

__all__ = ["changed", "cornered", "drifted"]

# The ends of a range: 0 itself is as good as never drawn, and many a check divides by it.
_LEAST, _LAST = 2.0**-53, 1 - 2.0**-53
_CORNERED = 48  # numbers of a tape that may lie at ends; the next ones are drawn


def changed(reads: Sequence[Read], rng: np.random.Generator) -> list[float]:
    """Change a tape somewhere: a few numbers, a block that becomes a copy of another, or what is read where."""
    numbers, size = [read.number for read in reads], len(reads)
    way = rng.random()
    if way < 0.12:
        length = int(rng.integers(1, max(2, size // 2 + 1)))
        source, target = (int(place) for place in rng.integers(0, size - length + 1, size=2))
        numbers[target : target + length] = numbers[source : source + length]
    elif way < 0.2:
        place = int(rng.integers(0, size))
        # One number fewer or more: all that follows is read as something else.
        numbers[place : place + (rng.random() < 0.5)] = [] if rng.random() < 0.5 else [float(rng.random())]
    else:
        count = 1 if way < 0.65 else 2 if way < 0.9 else min(size, 2 + int(rng.integers(0, 3)))
        for place in rng.choice(size, size=min(count, size), replace=False):
            numbers[place] = _another(reads[place], rng)
    return numbers


def _another(read: Read, rng: np.random.Generator) -> float:
    """Draw another number: the next one, an end of the range, or any."""
    way = rng.random()
    if read.levels < 2:
        return float(rng.random()) if way < 0.7 else _LEAST if way < 0.85 else _LAST
    if way < 0.35:
        level = min(max(read.level + (1 if rng.random() < 0.5 else -1), 0), read.levels - 1)
    elif way < 0.5:
        level = 0 if rng.random() < 0.5 else read.levels - 1
    else:
        level = int(rng.integers(0, read.levels))
    return (level + 0.5) / read.levels


def drifted(reads: Sequence[Read], reach: float, rng: np.random.Generator) -> list[float]:
    """Move the numbers that are used as they are, about so far each; half of the time only one of them."""
    places = [place for place, read in enumerate(reads) if not read.levels]
    numbers = [read.number for read in reads]
    for place in places if rng.random() < 0.5 else [places[int(rng.integers(0, len(places)))]]:
        numbers[place] = min(max(numbers[place] + reach * float(rng.normal()), _LEAST), _LAST)
    return numbers


def cornered(rng: np.random.Generator) -> list[float]:
    """Begin a tape whose numbers lie at the ends of their ranges, some or most of them, where extreme instances are."""
    share = float(rng.choice([0.0, 0.3, 0.6, 0.9]))
    ends = rng.choice([_LEAST, _LAST], size=_CORNERED)
    numbers = np.where(rng.random(_CORNERED) < share, ends, rng.random(_CORNERED))
    return [float(number) for number in numbers]
