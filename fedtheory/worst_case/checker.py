"""Check a worst-case certificate with nothing but Python's standard library: ``python checker.py certificate.json``.

The file holds a semidefinite program in rationals: maximize a form over positive semidefinite matrices G_b and numbers
f_i subject to forms that are equal to, or at most, bounds. A form is a sum of ``number * G_b[row][column]``, where row
is at most column, and of ``number * f_i``.

Upper side: multipliers, at least 0 for inequalities, with which the sum of multiplier times form, less the objective,
has no f_i left and positive semidefinite matrices; then the objective is at most the sum of multiplier times bound.
Lower side: matrices and numbers that fulfill all constraints, and the objective there. This file shares no code with
the rest of the library, and trusts nothing in the certificate but the program itself.
"""

import hashlib
import json
import os
import re
import sys
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import lcm
from typing import Any

__all__: list[str] = []

FORMAT = "fedtheory certificate 1"
LARGEST_FILE, LARGEST_BLOCK, LONGEST_NUMBER = 50_000_000, 200, 20_000
RATIONAL = re.compile(r"-?[0-9]+(/[1-9][0-9]*)?", re.ASCII)
Form = tuple[dict[tuple[int, int, int], Fraction], dict[int, Fraction]]
Matrix = list[list[Fraction]]


class Refused(Exception):
    """The certificate proves nothing, for the reason that is said."""


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
        self.sizes = [count(size, "a block", LARGEST_BLOCK) for size in array(document.get("blocks"), "blocks")]
        self.num_values = count(document.get("num_values"), "num_values", 10**6)
        self.objective = self.form(document.get("objective"))
        self.equalities, self.inequalities = (
            [(self.form(one), rational(one.get("bound"), "a bound")) for one in array(document.get(kind), kind)]
            for kind in ("equalities", "inequalities")
        )

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
            entries[key] = entries.get(key, Fraction(0)) + rational(number, "an entry")
        for pair in array(written.get("values"), "values"):
            place, number = array(pair, "a value", 2)
            place = count(place, "a value", self.num_values - 1)
            values[place] = values.get(place, Fraction(0)) + rational(number, "a value's coefficient")
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
    twice: list[Matrix] = [[[Fraction(0)] * size for _ in range(size)] for size in program.sizes]
    left = [Fraction(0)] * program.num_values
    for factor, (entries, values) in [(Fraction(-1), program.objective), *((y, form) for y, (form, _) in terms if y)]:
        for (block, row, column), number in entries.items():
            for i, j in ((row, column), (column, row)):
                twice[block][i][j] += factor * number
        for place, number in values.items():
            left[place] += factor * number
    if any(left):
        raise Refused("function values do not cancel in the sum of its inequalities")
    if not all(map(is_semidefinite, twice)):
        raise Refused("what is left of a block is not positive semidefinite")
    return sum((factor * bound for factor, (_, bound) in terms), Fraction(0))


def lower_bound(program: Program, point: Any) -> Fraction:
    """Return the objective at a point that fulfills all constraints."""
    if not isinstance(point, dict):
        raise Refused("its point is no object")
    written = zip(array(point.get("grams"), "grams", len(program.sizes)), program.sizes, strict=True)
    grams = [
        [[rational(x, "an entry") for x in array(row, "a row", size)] for row in array(gram, "a matrix", size)]
        for gram, size in written
    ]
    values = [rational(x, "a value") for x in array(point.get("values"), "the point's values", program.num_values)]
    for number, gram in enumerate(grams):
        if any(gram[i][j] != gram[j][i] for i in range(len(gram)) for j in range(i)) or not is_semidefinite(gram):
            raise Refused(f"the point's matrix {number} is not symmetric and positive semidefinite")

    def at(form: Form) -> Fraction:
        products = [number * grams[block][i][j] for (block, i, j), number in form[0].items()]
        return sum(products + [number * values[place] for place, number in form[1].items()], Fraction(0))

    if any(at(one) != b for one, b in program.equalities) or any(at(one) > b for one, b in program.inequalities):
        raise Refused("the point does not fulfill a constraint")
    return at(program.objective)


def is_semidefinite(matrix: Matrix) -> bool:
    """Eliminate in whole numbers, the largest diagonal entry first: none may be negative, and beside 0 all is 0."""
    unit, before = lcm(1, *(entry.denominator for row in matrix for entry in row)), 1
    left = [[int(entry * unit) for entry in row] for row in matrix]
    while left:
        top, pivot = max((row[i], i) for i, row in enumerate(left))
        if top <= 0:
            return not any(entry for row in left for entry in row)
        kept = [i for i in range(len(left)) if i != pivot]
        left = [[(top * left[i][j] - left[i][pivot] * left[pivot][j]) // before for j in kept] for i in kept]
        before = top
    return True


def rational(text: Any, what: str) -> Fraction:
    """Return the number that a text says."""
    if not isinstance(text, str) or len(text) > LONGEST_NUMBER or not RATIONAL.fullmatch(text):
        raise Refused(f"{what} is no rational number")
    return Fraction(text)


def digits(number: Fraction | None, rounding: str) -> str:
    """Return twelve digits of a number, rounded so that what is said of it is proved."""
    context = Context(prec=12, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return "" if number is None else f"{context.divide(Decimal(number.numerator), Decimal(number.denominator)):g}"


def count(number: Any, what: str, most: int) -> int:
    """Return an integer from 0 to most."""
    if type(number) is not int or not 0 <= number <= most:
        raise Refused(f"{what} is no number from 0 to {most}")
    return number


def array(items: Any, what: str, length: int | None = None) -> list[Any]:
    """Return a list, of some length."""
    if not isinstance(items, list) or (length is not None and len(items) != length):
        raise Refused(f"{what} is no list" + ("" if length is None else f" of {length}"))
    return items


def main(arguments: list[str]) -> tuple[str, int]:
    """Say of one file what it proves, or what is wrong with it, with an exit code."""
    if len(arguments) != 1:
        return f"usage: checker.py certificate.json, got {len(arguments)} arguments", 2
    try:
        size = os.path.getsize(arguments[0]) if os.path.isfile(arguments[0]) else 0  # noqa: PTH113, PTH202
        if size > LARGEST_FILE or (not size and os.path.exists(arguments[0])):  # noqa: PTH110
            return f"not read: it must be a regular file of 1 to {LARGEST_FILE} bytes", 2
        with open(arguments[0], encoding="utf-8") as file:  # noqa: PTH123
            lower, upper = check(json.load(file))
    except OSError as error:
        return f"not read: {error.strerror}", 2
    except (Refused, ValueError, RecursionError) as error:
        return f"not proved: {error}", 1
    least, most = digits(lower, ROUND_FLOOR), digits(upper, ROUND_CEILING)
    side = f"between {least} and {most}" if least and most else f"at least {least}" if least else f"at most {most}"
    return f"proved: value {side}", 0


if __name__ == "__main__":
    sentence, code = main(sys.argv[1:])
    print(sentence)  # noqa: T201
    sys.exit(code)
