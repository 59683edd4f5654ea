"""Numbers of other libraries as Python's, and sequences as values that compare, hash, and have a short printed form."""

from fractions import Fraction
from numbers import Rational
from typing import Any, final
from zlib import crc32

import numpy as np

_SHOWN = 8


@final
class LongTuple(tuple[Any, ...]):
    """A tuple that prints its first entries and, if it is long, a checksum that identifies it.

    >>> LongTuple(range(1, 4)), LongTuple(range(1000))
    ((1, 2, 3), (0, 1, 2, ... 1000 entries, checksum 9bf1f4c6))
    """

    __slots__ = ()

    def __repr__(self) -> str:
        if len(self) <= _SHOWN:
            return tuple.__repr__(self)
        first = ", ".join(map(repr, self[:3]))
        return f"({first}, ... {len(self)} entries, checksum {crc32(tuple.__repr__(self).encode()):08x})"


def to_fraction(number: Rational) -> Fraction:
    """Return a rational number as a fraction of Python's integers; a fraction of NumPy's would overflow.

    >>> to_fraction(np.int8(100)) ** 2
    Fraction(10000, 1)
    """
    return Fraction(int(number.numerator), int(number.denominator))


def to_tuples(values: Any) -> Any:
    """Return arrays, lists and tuples as nested tuples of Python numbers; other values unchanged."""
    if type(values) is np.ndarray or isinstance(values, np.generic):
        values = values.tolist()
    return LongTuple(map(to_tuples, values)) if isinstance(values, list | tuple) else values
