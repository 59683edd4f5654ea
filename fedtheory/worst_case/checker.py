"""Check a worst-case certificate with nothing but Python's standard library: ``python checker.py certificate.json``.

The file holds a semidefinite program in rationals: maximize a form over positive semidefinite matrices G_b and numbers
f_i subject to forms that are equal to, or at most, bounds. A form is a sum of ``number * G_b[row][column]``, where row
is at most column, and of ``number * f_i``.

Upper side: multipliers, at least 0 for inequalities, with which the sum of multiplier times form, less the objective,
has no f_i left and positive semidefinite matrices; then the objective is at most the sum of multiplier times bound.
Lower side: matrices and numbers that fulfill all constraints, and the objective there. This file shares no code with
the rest of the library, and trusts nothing in the certificate but the program itself. The exit code is 0 for what is
proved, 1 for what is not, and 2 for what was not read: that is no certificate, or too large to be checked in a minute.
"""

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import lcm
from typing import Any

__all__: list[str] = []

FORMAT = "fedtheory certificate 1"
LARGEST_FILE, MOST_PARTS, LONGEST_NUMBER, LONGEST_DENOMINATOR = 50_000_000, 3_000_000, 4_000, 6_000
LARGEST_BLOCK, MOST_ENTRIES, MOST_VALUES, MOST_WORK = 200, 1_000_000, 1_000_000, 5 * 10**12
RATIONAL = re.compile(r"-?[0-9]+(/[1-9][0-9]*)?", re.ASCII)
Form = tuple[dict[tuple[int, int, int], Fraction], dict[int, Fraction]]
Matrix = list[list[int]]


class Refused(Exception):
    """The certificate proves nothing, for the reason that is said."""


class NotRead(Exception):
    """The file is no certificate, or more than is checked."""


def check(document: Any) -> tuple[Fraction | None, Fraction | None]:
    """Return a lower and an upper bound that a certificate proves; None for a side of which it says nothing."""
    program, lower, upper = Program(document), None, None
    if "multipliers" in document:
        upper = upper_bound(program, document["multipliers"])
        if rational(document.get("upper"), "upper") != upper:
            raise Refused(f"its multipliers prove at most {digits(upper, ROUND_CEILING)}, which is not what it says")
    if "point" in document:
        lower = lower_bound(program, document["point"])
        if rational(document.get("lower"), "lower") != lower:
            raise Refused(f"its point proves at least {digits(lower, ROUND_FLOOR)}, which is not what it says")
    if upper is None and lower is None:
        raise Refused("it has neither multipliers nor a point")
    return lower, upper


class Program:
    """Forms over blocks and values, and constraints on them."""

    def __init__(self, document: Any) -> None:
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise Refused(f"its format is not {FORMAT!r}")
        said = json.dumps({key: part for key, part in document.items() if key != "digest"}, sort_keys=True)
        if document.get("digest") != hashlib.sha256(said.encode()).hexdigest():
            raise Refused("it was changed after it was written: its digest is another")
        self.sizes = [count(size, "a block") for size in array(document.get("blocks"), "blocks")]
        self.num_values = count(document.get("num_values"), "num_values")
        limited(max(self.sizes, default=0), LARGEST_BLOCK, "rows in a block")
        limited(sum(size**2 for size in self.sizes), MOST_ENTRIES, "entries in its blocks")
        limited(self.num_values, MOST_VALUES, "values")
        self.objective = self.form(document.get("objective"))
        self.equalities, self.inequalities = (
            [(self.form(one), rational(one.get("bound"), "a bound")) for one in array(document.get(kind), kind)]
            for kind in ("equalities", "inequalities")
        )
        forms = [self.objective, *(form for form, _ in (*self.equalities, *self.inequalities))]
        self.unit = common(number for form in forms for part in form for number in part.values())

    def form(self, written: Any) -> Form:
        """Return the numbers of entries (block, row, column), and of values."""
        if not isinstance(written, dict):
            raise Refused("a form is no object")
        entries: dict[tuple[int, int, int], Fraction] = {}
        values: dict[int, Fraction] = {}
        for entry in array(written.get("entries"), "entries"):
            block, row, column, number = array(entry, "an entry", 4)
            block = count(block, "the block of an entry", len(self.sizes) - 1)
            column = count(column, "the column of an entry", self.sizes[block] - 1)
            key = block, count(row, "the row of an entry", column), column
            if entries.setdefault(key, value := rational(number, "an entry")) is not value:
                raise Refused("an entry of a form occurs twice")
        for pair in array(written.get("values"), "values"):
            place, number = array(pair, "a value", 2)
            place = count(place, "a value", self.num_values - 1)
            if values.setdefault(place, value := rational(number, "a coefficient")) is not value:
                raise Refused("a value of a form occurs twice")
        return entries, values


def upper_bound(program: Program, multipliers: Any) -> Fraction:
    """Return the bound that multipliers prove."""
    if not isinstance(multipliers, dict):
        raise Refused("its multipliers are no object")
    free = array(multipliers.get("equalities"), "multipliers", len(program.equalities))
    signed = array(multipliers.get("inequalities"), "multipliers", len(program.inequalities))
    free, signed = ([rational(y, "a multiplier") for y in factors] for factors in (free, signed))
    if any(number < 0 for number in signed):
        raise Refused("a multiplier of an inequality is negative")
    terms = [*zip(free, program.equalities, strict=True), *zip(signed, program.inequalities, strict=True)]
    unit = common(y for y, _ in terms)
    twice: list[Matrix] = [[[0] * size for _ in range(size)] for size in program.sizes]
    left = [0] * program.num_values
    for factor, (entries, values) in [(Fraction(-1), program.objective), *((y, form) for y, (form, _) in terms if y)]:
        times = whole(factor, unit)
        for (block, i, j), number in entries.items():
            twice[block][i][j] += (1 + (i == j)) * times * whole(number, program.unit)
        for place, number in values.items():
            left[place] += times * whole(number, program.unit)
    for matrix in twice:
        for i, row in enumerate(matrix):
            row[:i] = [above[i] for above in matrix[:i]]
    if any(left):
        raise Refused("function values do not cancel in the sum of its inequalities")
    if not are_semidefinite(twice):
        raise Refused("what is left of a block is not positive semidefinite")
    bounds = common(bound for _, (_, bound) in terms)
    return Fraction(sum(whole(y, unit) * whole(bound, bounds) for y, (_, bound) in terms), unit * bounds)


def lower_bound(program: Program, point: Any) -> Fraction:
    """Return the objective at a point that fulfills all constraints."""
    if not isinstance(point, dict):
        raise Refused("its point is no object")
    written = zip(array(point.get("grams"), "grams", len(program.sizes)), program.sizes, strict=True)
    fractions = [
        [[rational(x, "an entry") for x in array(row, "a row", size)] for row in array(gram, "a matrix", size)]
        for gram, size in written
    ]
    numbers = [rational(x, "a value") for x in array(point.get("values"), "the point's values", program.num_values)]
    unit = common([x for gram in fractions for row in gram for x in row] + numbers)
    grams = [[[whole(x, unit) for x in row] for row in gram] for gram in fractions]
    values = [whole(x, unit) for x in numbers]
    if any(gram[i][j] != gram[j][i] for gram in grams for i in range(len(gram)) for j in range(i)):
        raise Refused("a matrix of the point is not symmetric")
    if not are_semidefinite(grams):
        raise Refused("a matrix of the point is not positive semidefinite")

    def at(form: Form, bound: Fraction = Fraction(0)) -> int:
        """Return what a form is above a bound, as a multiple of ``1 / (program.unit * unit * bound.denominator)``."""
        reached = sum(whole(number, program.unit) * grams[block][i][j] for (block, i, j), number in form[0].items())
        reached += sum(whole(number, program.unit) * values[place] for place, number in form[1].items())
        return reached * bound.denominator - bound.numerator * program.unit * unit

    if any(at(*one) != 0 for one in program.equalities) or any(at(*one) > 0 for one in program.inequalities):
        raise Refused("the point does not fulfill a constraint")
    return Fraction(at(program.objective), program.unit * unit)


def are_semidefinite(matrices: Sequence[Matrix]) -> bool:
    """Eliminate in whole numbers, the largest diagonal entry first: none may be negative, and beside 0 all is 0."""
    longest = [max((entry.bit_length() for row in matrix for entry in row), default=0) for matrix in matrices]
    # In the k-th step there are (n - k)^2 products of k times as many digits.
    work = sum(bits**2 * len(matrix) ** 5 // 30 for bits, matrix in zip(longest, matrices, strict=True))
    limited(work, MOST_WORK, "steps, of some digits each, in the elimination of its blocks")
    for matrix in matrices:
        left, before = matrix, 1
        while left:
            top, pivot = max((row[i], i) for i, row in enumerate(left))
            if top <= 0 and any(entry for row in left for entry in row):
                return False
            kept = [i for i in range(len(left)) if i != pivot] if top > 0 else []
            left = [[(top * left[i][j] - left[i][pivot] * left[pivot][j]) // before for j in kept] for i in kept]
            before = top
    return True


def common(numbers: Iterable[Fraction]) -> int:
    """Return a common denominator."""
    found = 1
    for number in numbers:
        if found % number.denominator:
            found = lcm(found, number.denominator)
            limited(found.bit_length(), LONGEST_DENOMINATOR, "binary digits in a common denominator")
    return found


def whole(number: Fraction, unit: int) -> int:
    """Return a number as a multiple of 1/unit."""
    return number.numerator * (unit // number.denominator)


def rational(text: Any, what: str) -> Fraction:
    """Return the number that a text says."""
    if not isinstance(text, str):
        raise Refused(f"{what} is no rational number")
    limited(len(text), LONGEST_NUMBER, "characters in a number")
    if not RATIONAL.fullmatch(text):
        raise Refused(f"{what} is no rational number")
    return Fraction(text)


def digits(number: Fraction | None, rounding: str) -> str:
    """Return twelve digits of a number, rounded so that what is said of it is proved."""
    context = Context(prec=12, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return "" if number is None else f"{context.divide(Decimal(number.numerator), Decimal(number.denominator)):g}"


def limited(number: int, most: int, what: str) -> None:
    """Refuse a certificate that is larger than what is checked."""
    if number > most:
        raise NotRead(f"it has {number} {what}, and at most {most} are checked")


def count(number: Any, what: str, most: int | None = None) -> int:
    """Return an integer from 0 to most."""
    if type(number) is not int or number < 0 or (most is not None and number > most):
        raise Refused(f"{what} is no number from 0 to {most}" if most is not None else f"{what} is no number from 0")
    return number


def array(items: Any, what: str, length: int | None = None) -> list[Any]:
    """Return a list, of some length."""
    if not isinstance(items, list) or (length is not None and len(items) != length):
        raise Refused(f"{what} is no list" + ("" if length is None else f" of {length}"))
    return items


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object whose keys occur once each."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise NotRead("a key of an object occurs twice")
    return found


def place(text: str) -> int:
    """Return a whole number of few digits."""
    return int(text) if len(text) < 10 else no_number(text)


def no_number(text: str) -> Any:
    """Refuse what is written as a number and is none that a certificate has."""
    raise NotRead(f"{text[:20]!r} is no number of a certificate: fractions are texts, and whole numbers are short")


def read(path: str) -> Any:
    """Return what a file says, if it is not too large to be understood."""
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


def main(arguments: list[str]) -> tuple[str, int]:
    """Say of one file what it proves, or what is wrong with it, with an exit code."""
    if len(arguments) != 1:
        return f"usage: checker.py certificate.json, got {len(arguments)} arguments", 2
    try:
        lower, upper = check(read(arguments[0]))
    except OSError as error:
        return f"not read: {error.strerror}", 2
    except NotRead as error:
        return f"not read: {error}", 2
    except Refused as error:
        return f"not proved: {error}", 1
    least, most = digits(lower, ROUND_FLOOR), digits(upper, ROUND_CEILING)
    side = f"between {least} and {most}" if least and most else f"at least {least}" if least else f"at most {most}"
    return f"proved: value {side}", 0


if __name__ == "__main__":
    sentence, code = main(sys.argv[1:])
    print(sentence)  # noqa: T201
    sys.exit(code)
