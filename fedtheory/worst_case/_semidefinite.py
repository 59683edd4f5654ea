"""The semidefinite program of a recorded problem, whose unknowns are inner products and function values.

Inner products of basis vectors are the entries of one positive semidefinite matrix for each block.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import count
from typing import Any, NamedTuple, final

import numpy as np

from fedtheory.worst_case._invariances import Direction, invariances
from fedtheory.worst_case._record import Constraint, Declared, Record
from fedtheory.worst_case._vectors import Form, Value, Vector
from fedtheory.worst_case.function_classes.interface import Call, Called, Semidefinite


class Block(NamedTuple):
    """Coefficients of the forms in one Gram matrix: whole numbers times entries (row, column), ``row <= column``.

    An off-diagonal entry counts for both triangles. Shapes (entries,); sorted by form.
    """

    forms: Any
    rows: Any
    columns: Any
    wholes: Any


class Rows(NamedTuple):
    """Blocks of integers and their common denominator."""

    blocks: tuple[Block, ...]
    denominator: int


@final
@dataclass(frozen=True)
class Program:
    """Maximize a form over Gram matrices and function values that fulfill the constraints.

    ``sizes`` are the numbers of basis vectors of the blocks. ``zeros`` are function values that are fixed at 0, since
    only differences of a function's values matter. ``free`` are directions whose squares are in no form; see
    ``_invariances``.
    """

    sizes: tuple[int, ...]
    objective: Form
    inequalities: tuple[Constraint, ...]
    equalities: tuple[Constraint, ...] = ()
    zeros: frozenset[Value] = frozenset()
    free: tuple[Direction, ...] = ()

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        """The objective, and the forms of all constraints, equalities first."""
        return (self.objective, *(constraint.form for constraint in self.constraints))

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        return (*self.equalities, *self.inequalities)

    @cached_property
    def values(self) -> dict[Value, int]:
        """The unknown function values that occur in forms, with their numbers."""
        found = (value for form in self.forms for value in form.values if value not in self.zeros)
        return {value: number for number, value in enumerate(dict.fromkeys(found))}

    @cached_property
    def rows(self) -> Rows:
        """All forms with integer coefficients over one denominator: objective, equalities, inequalities."""
        return _expanded(self.forms, self.sizes)

    @cached_property
    def whole_levels(self) -> tuple[list[tuple[int, int, int]], int]:
        """The ``levels`` with integer coefficients, and their denominator."""
        denominator = math.lcm(*(c.denominator for *_, c in self.levels))
        return [(row, place, int(c * denominator)) for row, place, c in self.levels], denominator

    @cached_property
    def value_columns(self) -> list[dict[int, Fraction]]:
        """The coefficients of each function value by the number of the form."""
        found: list[dict[int, Fraction]] = [{} for _ in self.values]
        for row, place, c in self.levels:
            found[place][row] = c
        return found

    @cached_property
    def levels(self) -> list[tuple[int, int, Fraction]]:
        """Number of the form, number of the function value, and coefficient, for every function value in a form."""
        numbers = self.values
        return [
            (row, numbers[f], c)
            for row, form in enumerate(self.forms)
            for f, c in form.values.items()
            if c and f not in self.zeros
        ]


def program_of(record: Record, objective: Form | Value) -> Program:
    """Return the constraints of a record as a program, without the conditions of its classes."""
    # A block without vectors gets a vector that is in no form.
    sizes = tuple(max(size, 1) for size in record.sizes)
    inequalities = tuple(one for one in record.constraints if not one.is_equality)
    equalities = tuple(one for one in record.constraints if one.is_equality)
    return Program(sizes, Form.of(objective), inequalities, equalities, frozenset(record.zeros))


def completed(record: Record) -> Record:
    """Return a copy of a record in which every function has the calls that its conditions require."""
    found = record.copy()
    for number, one in enumerate(found.declared):
        if one.minimum is None and (one.least is not None or one.of.needs_minimizer):
            at = found.vector(blocks=one.blocks, verb="local minimizer", of=[(Fraction(1), one.name)])
            level = found.value() if one.least is None else one.least
            calls = (*one.calls, Call(at, Vector({}), level))
            found.declared[number] = one._replace(calls=calls, minimum=len(one.calls))
    return found


def semidefinite_program(record: Record, objectives: Sequence[Form]) -> Program:
    """Return the semidefinite program of a complete record that maximizes the minimum of some forms."""
    asked = [*objectives, *(one.form for one in record.constraints)]
    return replace(conditions_of(record, objectives), free=tuple(invariances(record.declared, asked)))


def conditions_of(record: Record, objectives: Sequence[Form]) -> Program:
    """Return the program of a complete record, without the directions that its solver leaves out."""
    found, names = record.copy(), record.point_names()
    numbers = count(1)
    found.constraints = [
        one._replace(label=one.name or f"{'equality' if one.is_equality else 'constraint'} {next(numbers)}")
        for one in record.constraints
    ]
    for declared in record.declared:
        _require(found, declared, [names.get(call.at.key, "0") for call in declared.calls])
    objective = objectives[0]
    if len(objectives) > 1:
        objective = Form.of(found.value())
        for number, form in enumerate(objectives):
            found.at_most(objective - form, label=f"objective {number}")
    found.constraints = [*_with_labels_apart(found.constraints)]
    return program_of(found, objective)


def relaxations(record: Record, program: Program) -> tuple[str, ...]:
    """Return the names of functions and terms with necessary conditions only, so that only upper bounds are proved."""
    # A geometric mean is bounded from above only, which suffices if larger values increase the objective.
    bounded = [(program.objective, -1), *((one.form, 1) for one in program.inequalities)]
    low = any(sign * form.products.get(pair, 0) > 0 for form, sign in bounded for pair in record.roots)
    low |= any(one.form.products.get(pair, 0) for one in program.equalities for pair in record.roots)
    loose = (one.name for one in record.declared if not one.exact)
    return (*loose, *["a geometric mean"] * low)


def _require(record: Record, declared: Declared, names: Sequence[str]) -> None:
    """Add the interpolation conditions of a function or an operator."""
    called = Called(declared.calls, declared.minimum, declared.blocks, record.noises)
    for one in declared.of.conditions(called):
        if isinstance(one, Semidefinite):
            _require_semidefinite(record, one, declared.name)
        elif not one.form.says_nothing:
            named = f"{declared.name}.{one.name}" if one.name else ""
            label = f"{declared.name}: {', '.join(names[number] for number in one.calls) or 'linear'}"
            name = "" if one.is_equality else named
            record.at_most(one.form, one.bound, name, is_equality=one.is_equality, label=label)


def _require_semidefinite(record: Record, matrix: Semidefinite, name: str) -> None:
    """Demand that a matrix of forms is the Gram matrix of a new block."""
    block = record.block()
    slack = [record.vector(blocks=(block,), verb="slack") for i, j in matrix.entries if i == j]
    for (i, j), form in matrix.entries.items():
        record.equal_to(form - slack[i] @ slack[j], label=f"{name}: slack")


def _with_labels_apart(constraints: Iterable[Constraint]) -> Iterator[Constraint]:
    """Yield constraints with distinct labels; repeated labels are numbered."""
    taken = set[str]()
    for one in constraints:
        numbered = (f"{one.label} ({number})" for number in count(2))
        label = one.label if one.label not in taken else next(label for label in numbered if label not in taken)
        taken.add(label)
        yield one._replace(label=label)


def _expanded(forms: Sequence[Form], sizes: Sequence[int]) -> Rows:
    """Expand the products of vectors, in integers."""
    vectors = dict.fromkeys(vector for form in forms for pair in form.products for vector in pair)
    numbers = {vector: number for number, vector in enumerate(vectors)}
    unit = math.lcm(*(c.denominator for vector in vectors for c in vector.coordinates.values()))
    share = math.lcm(*(c.denominator for form in forms for c in form.products.values()))
    factors = [[(numbers[u], numbers[v], int(c * share)) for (u, v), c in form.products.items() if c] for form in forms]
    largest = int(unit * max((abs(c) for vector in vectors for c in vector.coordinates.values()), default=0))
    most = max((sum(abs(c) for _, _, c in terms) for terms in factors), default=0)
    # Twice the largest sum: if it fits, machine integers are exact.
    kind: Any = np.int64 if 2 * most * largest**2 < 2**62 else object
    coordinates: list[Any] = [np.zeros((len(vectors), size), dtype=kind) for size in sizes]
    for vector, number in numbers.items():
        for (block, place), c in vector.coordinates.items():
            coordinates[block][number, place] = int(c * unit)
    found: list[list[tuple[Any, ...]]] = [[] for _ in sizes]
    for number, terms in enumerate(factors):
        left, right = ([term[side] for term in terms] for side in (0, 1))
        shares: Any = np.array([c for *_, c in terms], dtype=kind)
        for block, whole in enumerate(coordinates) if terms else ():
            U, V = whole[left], whole[right]
            places = np.flatnonzero(U.any(axis=0) | V.any(axis=0))
            if places.size:
                matrix = U[:, places].T @ (V[:, places] * shares[:, None])
                matrix = np.triu(matrix) + np.tril(matrix, -1).T
                rows, columns = matrix.nonzero()
                found[block].append((np.full(rows.size, number), places[rows], places[columns], matrix[rows, columns]))
    return Rows(tuple(map(_block, found)), unit**2 * share)


def _block(entries: Sequence[tuple[Any, ...]]) -> Block:
    if not entries:
        none = np.zeros(0, dtype=int)
        return Block(none, none, none, none.astype(object))
    forms, rows, columns, wholes = (np.concatenate(part) for part in zip(*entries, strict=True))
    return Block(forms, rows, columns, np.array(wholes.tolist(), dtype=object))
