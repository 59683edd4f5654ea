"""The record of a worst-case problem: sources of variation, vectors, functions at points, constraints, objective.

A problem is recorded once, as data. The semidefinite program, numerical runs, the text of the theorem and the
certificate are made from the record.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from fractions import Fraction
from itertools import count
from typing import Any, NamedTuple, final

from fedtheory._support.wording import truncate
from fedtheory.worst_case._constants import vanishes, written
from fedtheory.worst_case._vectors import Form, Key, Value, Vector, fraction
from fedtheory.worst_case.function_classes.interface import Call, FunctionClass, Noise

SERVER = "the server's noise"
SPECIAL = ("minimizer", "local minimizer", "stationary point", "fixed point", "zero")
"""Operations that make points at which gradients or values are given."""
_NAME = re.compile(r"[A-Za-z][\w .*'^+/-]{0,59}", re.ASCII)


class Source(NamedTuple):
    """Source of variation of a block: the name of clients, or a noise of an owner, and other blocks."""

    owner: str = ""
    behind: frozenset[int] = frozenset()
    is_noise: bool = False


class Step(NamedTuple):
    """Step that made a vector: an operation of functions with coefficients on vectors and numbers."""

    verb: str
    made: Vector
    of: tuple[tuple[Fraction, str], ...] = ()
    inputs: tuple[Vector, ...] = ()
    numbers: tuple[Fraction, ...] = ()


class Constraint(NamedTuple):
    """``form <= bound``, or ``form == bound``; the bound is ``share`` times the constant called ``name``, if any.

    The ``label`` names the constraint itself.
    """

    form: Form
    bound: Fraction = Fraction(0)
    name: str = ""
    share: Fraction = Fraction(0)
    is_equality: bool = False
    label: str = ""


class Declared(NamedTuple):
    """A function, clients or an operator, and the points at which it is called.

    ``blocks`` are those in which its vectors are free: the block of means, and the block of differences between
    clients. ``minimum`` is the number of the call at the minimizer, if there is one, and ``least`` the least value, if
    it is given. ``exact`` says whether the conditions are sufficient at these points.
    """

    name: str
    of: FunctionClass
    blocks: tuple[int, ...]
    calls: tuple[Call, ...]
    minimum: int | None = None
    num_clients: int = 1
    exact: bool = True
    least: Value | None = None


@final
@dataclass
class Record:
    """Vectors, function values, functions and constraints of a problem.

    Block 0 holds fixed vectors and means. Every other block holds the contribution of one source of variation: the
    difference of a client from the mean of all clients, a noise, or the effect of a noise of the server on such
    differences. The law of a noise may depend on all earlier draws, except that the law of a client's noise depends on
    averaged noises only through their means.

    ``sizes`` and ``sources`` are those of the blocks, ``zeros`` the function values that are 0, and ``roots`` the
    vectors whose products are geometric means. ``crossings`` are the blocks of the effects of server noises on
    differences between clients, by the blocks of both. ``averaged`` are the means of the clients' noises, by the block
    of the noise. The ``owner`` of vectors and function values, which copies share, returns their text.
    """

    sizes: list[int] = field(default_factory=lambda: [0])
    sources: list[Source] = field(default_factory=lambda: [Source()])
    steps: list[Step] = field(default_factory=list)
    declared: list[Declared] = field(default_factory=list)
    constraints: list[Constraint] = field(default_factory=list)
    names: dict[str, Vector] = field(default_factory=dict)
    numbers: dict[str, Fraction] = field(default_factory=dict)
    zeros: set[Value] = field(default_factory=set)
    roots: list[tuple[Vector, Vector]] = field(default_factory=list)
    crossings: dict[tuple[int, int], int] = field(default_factory=dict)
    averaged: dict[int, Vector] = field(default_factory=dict)
    owner: object = field(default_factory=object)

    def copy(self) -> Record:
        kept = {part.name: getattr(self, part.name) for part in fields(self)}
        return Record(**{name: part if name == "owner" else part.copy() for name, part in kept.items()})

    def zero(self) -> Value:
        """Make a function value that is 0."""
        level = self.value()
        self.zeros.add(level)
        return level

    def value(self) -> Value:
        return Value(self.owner)

    def block(self, owner: str = "", behind: Iterable[int] = (), *, is_noise: bool = False) -> int:
        self.sizes.append(0)
        self.sources.append(Source(owner, frozenset(behind), is_noise))
        return len(self.sizes) - 1

    def vector(
        self,
        *inputs: Vector,
        blocks: Iterable[int] = (0,),
        verb: str = "point",
        of: Iterable[tuple[Fraction, str]] = (),
        numbers: Iterable[Fraction] = (),
    ) -> Vector:
        """Make a vector that may depend on the same sources of variation as some vectors; each vector is made here.

        It is free in each of the given blocks, and in each block on which an input depends. A function of a noise has a
        mean, and a function of a client's noise also differs among the clients.
        """
        step = Step(verb, Vector({}), tuple(of), inputs, tuple(numbers))
        return self._made(self._closed(inputs, blocks), step)

    def noise(self, owner: str, at: Vector, blocks: Iterable[int]) -> Vector:
        """Make a random vector in a new block, with mean 0 given all earlier draws of its client.

        The noises of different clients are independent. Noise of the server, whose ``owner`` is empty, is the same for
        all clients.
        """
        owner = owner or SERVER
        behind = {*self._closed([at], blocks), *self.noises_of(owner)} - self.averaged.keys()
        if owner == SERVER and any(self.sources[one].owner not in ("", SERVER) for one in behind):
            message = "a noise that is one for all must be drawn at a point that clients share, got another point"
            raise ValueError(message)
        block = self.block(owner, behind - {0}, is_noise=True)
        self._closed([], [block])
        return self._made([block], Step("noise", Vector({}), (), (at,)))

    def _made(self, blocks: Iterable[int], step: Step) -> Vector:
        coordinates = {}
        for block in blocks:
            coordinates[block, self.sizes[block]] = Fraction(1)
            self.sizes[block] += 1
        found = Vector(coordinates, self.owner)
        self.steps.append(step._replace(made=found))
        return found

    @property
    def noises(self) -> list[Noise]:
        """The blocks of noises, in the order in which they are drawn."""
        found = [Noise(block) for block, source in enumerate(self.sources) if source.is_noise]
        for noise in found:
            noise.crossed = tuple(block for (_, other), block in self.crossings.items() if other == noise)
        return found

    def noises_of(self, owner: str) -> list[int]:
        """Return the blocks of the noises that the given clients draw."""
        return [block for block in self.noises if self.sources[block].owner == owner]

    def differences_of(self, owner: str) -> list[int]:
        """Return the blocks of differences between the given clients, including the effects of noises on them."""
        return [block for block, one in enumerate(self.sources) if one.owner == owner and not one.is_noise]

    def mean_noise(self, block: int, num_clients: int) -> Vector:
        """Return the mean over clients of a noise that each of them has drawn, which is a noise of the server.

        Its variance is smaller, as the clients' noises are independent. No vector may be computed from the clients'
        noise afterwards.
        """
        if block not in self.averaged:
            noise = next(step.made for step in self.steps if step.verb == "noise" and block in step.made.blocks)
            mean = self.block(SERVER, self.noises_of(SERVER), is_noise=True)
            self.averaged[block] = self._made([mean], Step("mean", Vector({}), (), (noise,)))
            self.equal_to(self.averaged[block].square - Fraction(1, num_clients) * noise.square)
        return self.averaged[block]

    def refuse_dependent(self, *vectors: Vector) -> None:
        """Raise ValueError for a product of a client's noise with a vector that depends on the mean of that noise."""
        blocks = {0}.union(*(vector.blocks for vector in vectors))
        for noise, mean in self.averaged.items():
            [image] = mean.blocks
            if noise in blocks and any(image in {one, *self.sources[one].behind} for one in blocks):
                message = (
                    "a product must not have the noise of a client and its mean over the clients, got one that has"
                )
                raise ValueError(message)

    def _closed(self, inputs: Iterable[Vector], blocks: Iterable[int]) -> list[int]:
        """Return the blocks of vectors computed from some inputs, the given ones first."""
        own = [*blocks]
        found = {*own}.union(*(vector.blocks for vector in inputs))
        found = found.union(*(self.sources[block].behind for block in found))
        owners = sorted({self.sources[block].owner for block in found} - {"", SERVER})
        if len(owners) > 1:
            message = f"a vector must depend on one group of clients, got one that depends on {' and on '.join(owners)}"
            raise ValueError(message)
        if found & self.averaged.keys():
            message = (
                "a gradient or a point must not depend on a client's noise after its mean was taken, got one that does"
            )
            raise ValueError(message)
        for owner in owners:
            for noise in sorted(found.intersection(self.noises_of(SERVER))):
                found |= {*self._crossed(owner, noise)}
        return [*own, *sorted(found - {*own})]

    def _crossed(self, owner: str, noise: int) -> list[int]:
        """Return the block of the effect of a noise on the differences between clients, if there are any."""
        for block in self.differences_of(owner)[:1]:
            if (block, noise) not in self.crossings:
                before = [
                    self.crossings[block, one] for one in self.sources[noise].behind if (block, one) in self.crossings
                ]
                behind = {block, noise, *self.sources[noise].behind, *before}
                self.crossings[block, noise] = self.block(owner, behind)
            return [self.crossings[block, noise]]
        return []

    def at_most(
        self,
        form: Form | Value,
        constant: Fraction | int = 0,
        name: str = "",
        share: Fraction | int = 1,
        *,
        is_equality: bool = False,
        label: str = "",
    ) -> None:
        """Demand that a form is at most, or equal to, a constant or a share of it."""
        number, part = fraction("a bound", constant), fraction("a share", share)
        name = self._constant(name, number)
        share = part if name else Fraction(0)
        self.constraints.append(Constraint(Form.of(form), part * number, name, share, is_equality, label))

    def equal_to(self, form: Form | Value, bound: Fraction | int = 0, name: str = "", *, label: str = "") -> None:
        """Demand that a form equals a number."""
        self.at_most(form, bound, name, is_equality=True, label=label)

    def _constant(self, name: str, number: Fraction) -> str:
        """Return the name of a constant, which must have one value: a lemma is a sum of multiplier times constant."""
        if not checked_name(name) and not vanishes(number):
            name = next(free for n in count(1) if (free := f"bound {n}") not in self.numbers)
        known = self.numbers.setdefault(name, number) if name else number
        if known != number:
            both = f"{written(known)} and for {written(number)}"
            message = f"a name must stand for one number, got {name!r} for {both}"
            raise ValueError(message)
        return name

    def named(self, vector: Vector, name: str) -> Vector:
        """Give a vector a unique name, unless the name is empty."""
        if checked_name(name) and vector.coordinates and self.names.setdefault(name, vector).key != vector.key:
            message = f"a point must have a name that no other point has, got {truncate(name)}"
            raise ValueError(message)
        return vector

    def declare(self, one: Declared) -> int:
        """Add a function or an operator, and return its number."""
        if one.name in {other.name for other in self.declared}:
            message = f"a function must have a name that nothing else has, got {truncate(one.name)}"
            raise ValueError(message)
        self.declared.append(one)
        return len(self.declared) - 1

    def point_names(self) -> dict[Key, str]:
        """Return names of all points: given names, ``x*`` for minimizers and the like, and numbered names."""
        found = {vector.key: name for name, vector in self.names.items()}
        special = {step.made.key for step in self.steps if step.verb in SPECIAL}
        taken = {*self.names}
        for declared in self.declared:
            for call in declared.calls:
                key = call.at.key
                if call.at.coordinates and key not in found:
                    numbered = (f"x{number}" for number in count(1))
                    starred = ("x*", *(f"x*{number}" for number in range(2, 2 + len(special))))
                    found[key] = next(one for one in (starred if key in special else numbered) if one not in taken)
                    taken.add(found[key])
        return found


def checked_name(name: Any) -> str:
    """Return a printable name, or an empty one."""
    if not isinstance(name, str):
        message = f"name must be a string, got {truncate(name)}"
        raise TypeError(message)
    if name and not _NAME.fullmatch(name):
        message = f"name must be a letter, then at most 59 letters, digits, blanks or _.*'^+/-, got {truncate(name)}"
        raise ValueError(message)
    return name
