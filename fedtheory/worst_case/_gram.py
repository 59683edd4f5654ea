"""Programs over Gram matrices: inner products of an analysis' vectors are unknowns, and so are function values.

Every vector of the analysis is a linear combination of basis vectors, which live in blocks; vectors of different blocks
are orthogonal. Inner products of basis vectors are the entries of one positive semidefinite matrix per block, and the
dimension of the space is not restricted. All coefficients are exact rationals.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import count
from typing import Any, NamedTuple, TypeVar, final

import numpy as np

from fedtheory._support.wording import short, shown

__all__: list[str] = []

Key = TypeVar("Key")
Basis = tuple[int, int]
"""A basis vector: (block, number in the block)."""


@final
class Vector:
    """A linear combination of basis vectors.

    Two vectors are the same only if they are one object: a program multiplies objects, and so keeps the structure in
    which it was written. ``owner`` is the draft that its basis vectors are of; the zero vector is of any.
    """

    __slots__ = ("coordinates", "owner")

    def __init__(self, coordinates: Mapping[Basis, Fraction], owner: Draft | None = None) -> None:
        self.coordinates = {place: c for place, c in coordinates.items() if c}
        self.owner = owner

    def __repr__(self) -> str:
        return "<vector>"

    def __add__(self, other: Vector) -> Vector:
        if not isinstance(other, Vector):
            return NotImplemented
        places = {**self.coordinates, **other.coordinates}
        return Vector({place: self[place] + other[place] for place in places}, one_owner(self, other))

    def __sub__(self, other: Vector) -> Vector:
        return self + -1 * other

    def __neg__(self) -> Vector:
        return -1 * self

    def __rmul__(self, factor: Fraction | int) -> Vector:
        c = exact("a factor", factor)
        return Vector({place: c * entry for place, entry in self.coordinates.items()}, self.owner)

    __mul__ = __rmul__

    def __truediv__(self, divisor: Fraction | int) -> Vector:
        return self * inverse_of(divisor)

    def __getitem__(self, place: Basis) -> Fraction:
        return self.coordinates.get(place, Fraction(0))

    def __matmul__(self, other: Vector) -> Form:
        if not isinstance(other, Vector):
            return NotImplemented
        one_owner(self, other)
        return Form({(self, other): Fraction(1)})

    @property
    def key(self) -> frozenset[tuple[Basis, Fraction]]:
        """What two vectors share that are equal."""
        return frozenset(self.coordinates.items())

    @property
    def square(self) -> Form:
        """Squared length."""
        return self @ self

    @property
    def blocks(self) -> set[int]:
        """Blocks in which it is not 0."""
        return {block for block, _ in self.coordinates}

    def within(self, blocks: Iterable[int]) -> Vector:
        """Return the part that lies in some blocks."""
        kept = set(blocks)
        return Vector({place: c for place, c in self.coordinates.items() if place[0] in kept}, self.owner)


def exact(name: str, number: Any) -> Fraction | int:
    """Return an integer or a fraction. A float is refused, as it is seldom the number that was meant.

    >>> exact("step_size", 0.1)
    Traceback (most recent call last):
    TypeError: step_size must be an int or a Fraction, got 0.1 (Fraction(1, 10))
    """
    meant = ""
    if isinstance(number, bool):
        pass  # which is an integer for Python
    elif isinstance(number, int | Fraction):
        return number
    elif isinstance(number, numbers.Rational):
        return Fraction(int(number.numerator), int(number.denominator))
    elif isinstance(number, numbers.Real) and math.isfinite(number):
        meant = f" ({Fraction(repr(float(number)))!r})"
    message = f"{name} must be an int or a Fraction, got {short(number)}{meant}"
    raise TypeError(message)


def inverse_of(divisor: Any) -> Fraction:
    """Return 1 over a rational that is not 0."""
    number = Fraction(exact("a divisor", divisor))
    if not number:
        message = "a divisor must differ from 0, got 0"
        raise ValueError(message)
    return 1 / number


def text(name: Any) -> str:
    """Return what something is called."""
    if isinstance(name, str):
        return name
    message = f"name must be a string, got {short(name)}"
    raise TypeError(message)


def one_owner(*terms: Vector | Value) -> Draft | None:
    """Return the draft that vectors and function values are of."""
    owners = {id(term.owner): term.owner for term in terms if term.owner is not None}
    if len(owners) > 1:
        message = f"vectors and function values must belong to one problem, got some of {len(owners)}"
        raise ValueError(message)
    return next(iter(owners.values()), None)


@final
class Value:
    """A function value, which is unknown."""

    __slots__ = ("owner",)

    def __init__(self, owner: Draft | None = None) -> None:
        self.owner = owner

    def __add__(self, other: Form | Value) -> Form:
        return Form.of(self) + other

    def __sub__(self, other: Form | Value) -> Form:
        return Form.of(self) - other

    def __rmul__(self, factor: Fraction | int) -> Form:
        return factor * Form.of(self)

    __mul__ = __rmul__

    def __truediv__(self, divisor: Fraction | int) -> Form:
        return Form.of(self) / divisor

    def __neg__(self) -> Form:
        return -1 * self


@final
class Form:
    """A linear function of inner products and of function values."""

    __slots__ = ("products", "values")

    def __init__(
        self, products: Mapping[tuple[Vector, Vector], Fraction], values: Mapping[Value, Fraction] | None = None
    ) -> None:
        self.products = products
        self.values = values or {}

    def __repr__(self) -> str:
        return "<form>"

    @classmethod
    def total(
        cls, products: Iterable[tuple[tuple[Vector, Vector], Fraction]], values: Iterable[tuple[Value, Fraction]] = ()
    ) -> Form:
        """Add up terms, of which several may belong to one product or value."""
        return cls(_added({}, products), _added({}, values))

    @classmethod
    def of(cls, term: Any) -> Form:
        """Return a form as it is, and a function value as a form."""
        if isinstance(term, Form):
            return term
        if isinstance(term, Value):
            return cls({}, {term: Fraction(1)})
        message = f"a form must be made of inner products and function values, got {short(term)}"
        raise TypeError(message)

    @property
    def says_nothing(self) -> bool:
        """Whether it is 0 whatever the unknowns are."""
        return not any(c and u.coordinates and v.coordinates for (u, v), c in self.products.items()) and not any(
            self.values.values()
        )

    def __add__(self, other: Form | Value) -> Form:
        right = Form.of(other)
        return Form(_added(self.products, right.products.items()), _added(self.values, right.values.items()))

    def __sub__(self, other: Form | Value) -> Form:
        return self + -1 * Form.of(other)

    def __rmul__(self, factor: Fraction | int) -> Form:
        times = exact("a factor", factor)
        return Form(
            {pair: times * c for pair, c in self.products.items()},
            {value: times * c for value, c in self.values.items()},
        )

    __mul__ = __rmul__

    def __truediv__(self, divisor: Fraction | int) -> Form:
        return self * inverse_of(divisor)

    def __neg__(self) -> Form:
        return -1 * self


class Block(NamedTuple):
    """What the forms hold of a block's Gram matrix: whole numbers times entries (row, column), ``row <= column``.

    An entry off the diagonal stands for itself and its mirror image. Shapes (entries,); sorted by form.
    """

    forms: Any
    rows: Any
    columns: Any
    wholes: Any


class Rows(NamedTuple):
    """Blocks of whole numbers, and the denominator of all of them."""

    blocks: tuple[Block, ...]
    denominator: int


@final
@dataclass(frozen=True)
class Constraint:
    """``form <= bound``, or ``form == bound``; the bound is ``share`` times the constant called ``name``, if any."""

    form: Form
    bound: Fraction = Fraction(0)
    name: str = ""
    share: Fraction = Fraction(0)


@final
@dataclass(frozen=True)
class Program:
    """Maximize a form over Gram matrices and function values that fulfill the constraints.

    Attributes
    ----------
    sizes
        Number of basis vectors of each block.
    objective
        What is maximized.
    inequalities, equalities
        The constraints.
    zeros
        Function values that are 0: a function may be shifted where only differences of its values count.
    """

    sizes: tuple[int, ...]
    objective: Form
    inequalities: tuple[Constraint, ...]
    equalities: tuple[Constraint, ...] = ()
    zeros: frozenset[Value] = frozenset()

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        """The objective, and the forms of all constraints, equalities first."""
        return (self.objective, *(constraint.form for constraint in (*self.equalities, *self.inequalities)))

    @cached_property
    def values(self) -> dict[Value, int]:
        """The unknown function values that occur, numbered."""
        return _numbered(value for form in self.forms for value in form.values if value not in self.zeros)

    @cached_property
    def rows(self) -> Rows:
        """All forms as whole numbers over one denominator, equalities before inequalities, the objective first."""
        return _expanded(self.forms, len(self.sizes))

    @cached_property
    def levels(self) -> list[tuple[int, int, Fraction]]:
        """Number of the form, number of the function value, and coefficient, of every function value in a form."""
        numbers = self.values
        return [
            (row, numbers[f], c)
            for row, form in enumerate(self.forms)
            for f, c in form.values.items()
            if c and f not in self.zeros
        ]


def _expanded(forms: Sequence[Form], num_blocks: int) -> Rows:
    """Multiply out the products of vectors, in whole numbers, which are ten times as fast as fractions."""
    vectors = dict.fromkeys(vector for form in forms for pair in form.products for vector in pair)
    unit = math.lcm(*(c.denominator for vector in vectors for c in vector.coordinates.values()))
    share = math.lcm(*(c.denominator for form in forms for c in form.products.values()))
    whole = {vector: {place: int(c * unit) for place, c in vector.coordinates.items()} for vector in vectors}
    found: list[list[tuple[int, int, int, int]]] = [[] for _ in range(num_blocks)]
    for number, form in enumerate(forms):
        beside: dict[Vector, dict[Basis, int]] = {}
        for (u, v), c in form.products.items():
            right, times = beside.setdefault(u, {}), int(c * share)
            for place, entry in whole[v].items():
                right[place] = right.get(place, 0) + times * entry
        entries: dict[tuple[int, int, int], int] = {}
        for u, right in beside.items():
            for (block, i), left in whole[u].items():
                for (other, j), entry in right.items():
                    if other == block:
                        key = (block, i, j) if i <= j else (block, j, i)
                        entries[key] = entries.get(key, 0) + left * entry
        for (block, i, j), entry in entries.items():
            if entry:
                found[block].append((number, i, j, entry))
    return Rows(tuple(_block(entries) for entries in found), unit**2 * share)


def _block(entries: Sequence[tuple[int, int, int, int]]) -> Block:
    forms, rows, columns, wholes = zip(*entries, strict=True) if entries else ((), (), (), ())
    numbers = np.empty(len(wholes), dtype=object)
    numbers[:] = wholes
    return Block(np.array(forms, dtype=int), np.array(rows, dtype=int), np.array(columns, dtype=int), numbers)


def _numbered(keys: Iterable[Key]) -> dict[Key, int]:
    return {key: number for number, key in enumerate(dict.fromkeys(keys))}


class _Source(NamedTuple):
    """What the vectors of a block depend on: the owner, clients by name or the server, and other blocks."""

    owner: str
    behind: frozenset[int]


_SERVER = "the server's noise"


@final
class Draft:
    """A program in the making: makes vectors and function values, and collects constraints.

    Block 0 holds what is fixed, or a mean. Every other block holds what one source of variation adds: the difference
    of a client from the mean of all clients, or a noise. The law of a noise may depend on all that was drawn before.
    """

    def __init__(self) -> None:
        self._sizes = [0]
        self._sources = [_Source("", frozenset())]
        self.inequalities: list[Constraint] = []
        self.equalities: list[Constraint] = []
        self._zeros: set[Value] = set()
        self._numbers: dict[str, Fraction] = {}
        self.noises: list[int] = []

    @contextmanager
    def undone(self) -> Iterator[None]:
        """Remove at the end what was made and demanded within."""
        kept = [*self._sizes], [*self._sources], [*self.inequalities], [*self.equalities], {*self._zeros}
        numbers = {**self._numbers}
        try:
            yield
        finally:
            self._sizes, self._sources, self.inequalities, self.equalities, self._zeros = kept
            self._numbers = numbers

    def zero(self) -> Value:
        """Make a function value that is 0."""
        level = Value(self)
        self._zeros.add(level)
        return level

    def block(self, owner: str = "", behind: Iterable[int] = ()) -> int:
        """Open another block, and return its number."""
        self._sizes.append(0)
        self._sources.append(_Source(owner, frozenset(behind)))
        return len(self._sizes) - 1

    def vector(self, *inputs: Vector, blocks: Iterable[int] = (0,)) -> Vector:
        """Make a vector that may depend on everything that some vectors depend on; no vector is made otherwise.

        It is free in each of the given blocks, and in each block on which an input depends.

        Examples
        --------
        A function of a noise has a mean, and a function of a client's noise differs among the clients, too.

        >>> draft = Draft()
        >>> deviations = draft.block("f0")
        >>> noise = draft.noise("f0", draft.vector(), blocks=(0, deviations))
        >>> sorted(noise.blocks), sorted(draft.vector(noise).blocks)
        ([2], [0, 1, 2])
        """
        coordinates = {}
        for block in self._closed(inputs, blocks):
            coordinates[block, self._sizes[block]] = Fraction(1)
            self._sizes[block] += 1
        return Vector(coordinates, self)

    def noise(self, owner: str, at: Vector, blocks: Iterable[int]) -> Vector:
        """Make a random vector, of mean 0 whatever its client has drawn before, in a block of its own.

        The noises of different clients are independent. Noise of the server, whose ``owner`` is empty, is one vector.
        """
        owner = owner or _SERVER
        behind = {*self._closed([at], blocks), *self.noises_of(owner)}
        block = self.block(owner, behind - {0})
        self._closed([], [block])
        self.noises.append(block)
        self._sizes[block] = 1
        return Vector({(block, 0): Fraction(1)}, self)

    def noises_of(self, owner: str) -> list[int]:
        """Return the blocks of the noises that are drawn by each of some clients."""
        return [block for block in self.noises if self._sources[block].owner == owner]

    def _closed(self, inputs: Iterable[Vector], blocks: Iterable[int]) -> list[int]:
        """Return the blocks of what is computed from some inputs, the given ones first."""
        own = [*blocks]
        found = {*own}.union(*(vector.blocks for vector in inputs))
        found = found.union(*(self._sources[block].behind for block in found))
        owners = sorted({self._sources[block].owner for block in found} - {""})
        if len(owners) > 1:
            message = (
                "a gradient or a point must depend on one group of clients or on the server's noise, got one that "
                f"depends on {' and on '.join(owners)} (p.function for each client, and p.mean over outcomes, can "
                "say more)"
            )
            raise ValueError(message)
        return [*own, *sorted(found - {*own})]

    def value(self) -> Value:
        """Make a function value."""
        return Value(self)

    def at_most(
        self, form: Form | Value, constant: Fraction | int = 0, name: str = "", share: Fraction | int = 1
    ) -> None:
        """Demand that a form is at most a constant, or some share of it."""
        name = self._named(name, Fraction(constant))
        bound = Fraction(share) * constant
        self.inequalities.append(Constraint(Form.of(form), bound, name, Fraction(share if name else 0)))

    def equal_to(self, form: Form | Value, bound: Fraction | int = 0, name: str = "") -> None:
        """Demand that a form equals a number."""
        name = self._named(name, Fraction(bound))
        self.equalities.append(Constraint(Form.of(form), Fraction(bound), name, Fraction(1 if name else 0)))

    def _named(self, name: str, number: Fraction) -> str:
        """Return the name of a number, which stands for no other: a proof is a sum of multiplier times number."""
        name = text(name)
        if not name and number:
            name = next(free for n in count(1) if (free := f"bound {n}") not in self._numbers)
        known = self._numbers.setdefault(name, number) if name else number
        if known != number:
            message = f"a name must stand for one number, got {name!r} for {shown(known)} and for {shown(number)}"
            raise ValueError(message)
        return name

    def maximize(self, objective: Form | Value) -> Program:
        """Return the finished program."""
        constraints = tuple(self.inequalities), tuple(self.equalities)
        # A block in which nothing was made has a vector that is in no form.
        sizes = tuple(max(size, 1) for size in self._sizes)
        return Program(sizes, Form.of(objective), *constraints, frozenset(self._zeros))


def _added(left: Mapping[Key, Fraction], right: Iterable[tuple[Key, Fraction]]) -> dict[Key, Fraction]:
    total = dict(left)
    for key, c in right:
        total[key] = total.get(key, Fraction(0)) + c
    return total
