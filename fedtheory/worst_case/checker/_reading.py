"""Certificates as untrusted input: limits for numbers, lists and objects, and error messages."""

import json
import os
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

FORMAT = "fedtheory certificate 3"
LARGEST_FILE, MOST_PARTS, LONGEST_NUMBER, LONGEST_DENOMINATOR = 50_000_000, 3_000_000, 4_000, 6_000
LARGEST_BLOCK, MOST_ENTRIES, MOST_CALLS, MOST_CONSTRAINTS = 200, 1_000_000, 300, 100_000
MOST_WORK, MOST_PRODUCTS = 5 * 10**12, 2 * 10**7
RATIONAL = re.compile(r"-?[0-9]+(/[1-9][0-9]*)?", re.ASCII)
NAME = re.compile(r"[A-Za-z][\w .*'^+/-]{0,69}", re.ASCII)


class Refused(Exception):
    """The certificate proves nothing; the message is the reason."""


class NotRead(Exception):
    """The file is not a certificate, or exceeds a limit."""


def common(numbers: Iterable[Fraction]) -> int:
    """Return a common denominator."""
    found = 1
    for number in numbers:
        if found % number.denominator:
            found = lcm(found, number.denominator)
            limited(found.bit_length(), LONGEST_DENOMINATOR, "binary digits in a common denominator")
    return found


def added(total: Fraction, more: Fraction) -> Fraction:
    """Return a sum with a limit on the length of its denominator."""
    found = total + more
    limited(found.denominator.bit_length(), 4 * LONGEST_DENOMINATOR, "binary digits in the denominator of a sum")
    return found


def whole(number: Fraction, unit: int) -> int:
    """Return a number as a multiple of 1/unit."""
    return number.numerator * (unit // number.denominator)


def rational(text: Any, what: str) -> Fraction:
    """Return the number that a text says; a fraction, which no file has, is one."""
    if isinstance(text, Fraction):
        return text
    if not isinstance(text, str):
        raise Refused(f"{what} is no rational number")
    limited(len(text), LONGEST_NUMBER, "characters in a number")
    if not RATIONAL.fullmatch(text):
        raise Refused(f"{what} is no rational number")
    return Fraction(text)


def limited(number: int, most: int, what: str) -> None:
    """Raise NotRead if a limit is exceeded."""
    if number > most:
        raise NotRead(f"it has {number} {what}, and at most {most} are checked")


def count(number: Any, what: str, most: int | None = None) -> int:
    """Return an integer from 0 to ``most``."""
    if type(number) is not int or number < 0 or (most is not None and number > most):
        raise Refused(f"{what} is no number from 0 to {most}" if most is not None else f"{what} is no number from 0")
    return number


def array(items: Any, what: str, length: int | None = None) -> list[Any]:
    """Return a list with the given length."""
    if not isinstance(items, list) or (length is not None and len(items) != length):
        raise Refused(f"{what} is no list" + ("" if length is None else f" of {length}"))
    return items


def fields(written: Any, what: str, keys: Sequence[str]) -> list[Any]:
    """Return the values of an object that has exactly these keys."""
    if not isinstance(written, dict) or written.keys() != {*keys}:
        raise Refused(f"{what} does not consist of {', '.join(keys)}")
    return [written[key] for key in keys]


def text(name: Any, what: str, *, empty: bool = False) -> str:
    """Return a printable name."""
    if not isinstance(name, str) or not (NAME.fullmatch(name) or (empty and not name)):
        raise Refused(f"{what} is no name")
    return name


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object after checking that no key is repeated."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise NotRead("a key of an object occurs twice")
    return found


def place(text: str) -> int:
    """Return an integer with few digits."""
    return int(text) if len(text) < 10 else no_number(text)


def no_number(text: str) -> Any:
    """Raise NotRead for a number that cannot occur in a certificate."""
    raise NotRead(f"{text[:20]!r} is no number of a certificate: fractions are texts, and whole numbers are short")


def read(path: str) -> Any:
    """Return the parsed content of a file."""
    try:
        size = os.path.getsize(path) if os.path.isfile(path) else 0  # noqa: PTH113, PTH202
        if size > LARGEST_FILE or (not size and os.path.exists(path)):  # noqa: PTH110
            raise NotRead(f"it must be a regular file of 1 to {LARGEST_FILE} bytes")
        with open(path, "rb") as file:  # noqa: PTH123
            content = file.read(LARGEST_FILE + 1)
    except ValueError:
        raise NotRead(f"{path[:40]!r} is no name of a file") from None
    limited(sum(map(content.count, b",[{:")), MOST_PARTS, "parts")
    try:
        text = content.decode()
        return json.loads(
            text, object_pairs_hook=once, parse_int=place, parse_float=no_number, parse_constant=no_number
        )
    except UnicodeDecodeError:
        raise NotRead("it is no text in UTF-8") from None
    except ValueError as error:
        raise NotRead(f"it is no JSON: {error}") from None
    except RecursionError:
        raise NotRead("its lists and objects are nested too deeply") from None
