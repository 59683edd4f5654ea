"""A program as arrays for an interior-point method, and its results as rationals.

At first, a program is only scaled by powers of two. If this does not suffice, it is rewritten without rounding in
coordinates that avoid cancellation: the Gram matrices of a state become unit matrices, and slacks of tight constraints
replace function values. Redundant unknowns are removed. These are function values of which only differences occur, and
directions of a Gram matrix on which no form depends, for example if all models may be translated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np

from fedtheory._support.validate import Array
from fedtheory.arithmetic.matrices import (
    Exact,
    independent,
    inverse,
    over_common,
    product,
    solve_exactly,
    whole_product,
)
from fedtheory.worst_case._certificates import FeasiblePoint, Multipliers, forms_at, value_balance
from fedtheory.worst_case._elimination import cholesky, power_of_two
from fedtheory.worst_case._interior_point import Data, State
from fedtheory.worst_case._semidefinite import Block, Program
from fedtheory.worst_case._sparse_forms import SparseForms

# Numbers below this share of the largest are treated as rounding errors.
_NEGLIGIBLE = 1e-12
# A program is large if its matrices have more entries than this.
_MANY = 100_000
# The multipliers are eliminated if there are fewer unknowns than this multiple of the inequalities.
_MORE = 1.2
# Each refinement reduces the residuals of equalities by nearly all digits of a double.
_REFINEMENTS = 4


class _Table(NamedTuple):
    """All rows in some coordinates, exactly; the row of the objective comes first.

    Coefficients of the Gram matrices as in ``program.rows``, with a denominator for each block; coefficients of the
    other variables, shape (1 + m, k); and right-hand sides, shape (1 + m,).
    """

    blocks: list[tuple[Block, int]]
    variables: Exact
    bounds: Exact


@final
@dataclass(frozen=True)
class Coordinates:
    """An exact change of a program's variables: ``G = T G' T'``, and slacks instead of function values.

    ``free`` are the numbers of the function values that are not fixed at 0. ``turns`` are the matrices T of the blocks,
    shapes (n, n'). ``pivots`` are the numbers of the constraints whose slacks are the new variables, one for each free
    function value. They are None in the program's own coordinates, where function values are kept and columns of T are
    multiples of basis vectors.
    """

    program: Program
    free: tuple[int, ...]
    turns: tuple[Exact, ...]
    pivots: tuple[int, ...] | None = None

    @cached_property
    def _levels(self) -> Exact:
        """Coefficients of the free function values in all forms, shape (1 + m, k)."""
        found = np.full((len(self.program.forms), len(self.program.values)), Fraction(0), dtype=object)
        for row, place, c in self.program.levels:
            found[row, place] += c
        return found[:, list(self.free)]

    @property
    def _constraints(self) -> tuple[Any, ...]:
        return (*self.program.equalities, *self.program.inequalities)

    @cached_property
    def _pivot_rows(self) -> list[int]:
        return [1 + pivot for pivot in self.pivots or ()]

    @cached_property
    def _slack_rows(self) -> list[int]:
        """Rows of the pivots that are inequalities; equalities have no slack."""
        return [row for row in self._pivot_rows if row > len(self.program.equalities)]

    @cached_property
    def _kept(self) -> Any:
        """Numbers of the remaining rows: a pivot that is an equality is eliminated."""
        used = {*self._pivot_rows} - {*self._slack_rows}
        return np.array([row for row in range(len(self.program.forms)) if row not in used])

    @cached_property
    def _to_values(self) -> Exact:
        """Matrix from the slacks of the pivots to the free function values, shape (k, k)."""
        return inverse(self._levels[self._pivot_rows])

    @cached_property
    def _table(self) -> _Table:
        """All rows; the pivots' rows are substituted into the others and become ``-slack <= 0``."""
        bounds = np.array([Fraction(0), *(one.bound for one in self._constraints)], dtype=object)
        if self.pivots is None:
            return _Table([_selected(self.program, *pair) for pair in enumerate(self.turns)], self._levels, bounds)
        lost = product(self._levels, self._to_values)
        slacks = [self._pivot_rows.index(row) for row in self._slack_rows]
        blocks = [_turned(self.program, number, turn, lost, self._pivot_rows) for number, turn in enumerate(self.turns)]
        return _Table(blocks, -lost[:, slacks], bounds - lost @ bounds[self._pivot_rows])

    @cached_property
    def _in_doubles(self) -> tuple[list[Array], Array]:
        """Entries of the blocks and coefficients of the variables as doubles."""
        blocks = [_over(block.wholes, denominator) for block, denominator in self._table.blocks]
        return blocks, _doubles(self._table.variables)

    @cached_property
    def _scales(self) -> tuple[Array, Array]:
        """Powers of two that scale the largest coefficient of each row and each variable to about 1."""
        sizes = np.zeros(len(self.program.forms))
        entries, variables = self._in_doubles
        for (block, _), own in zip(self._table.blocks, entries, strict=True):
            np.maximum.at(sizes, block.forms, np.abs(own))
        variables = np.abs(variables)
        weighted = variables * np.where(sizes > 0, 1.0 / np.where(sizes, sizes, 1.0), 0.0)[:, None]
        relative = weighted.max(axis=0, initial=0.0)
        units = power_of_two(1.0 / np.where(relative, relative, 1.0))
        sizes = np.maximum(sizes, (variables * units).max(axis=1, initial=0.0))
        return power_of_two(1.0 / np.where(sizes, sizes, 1.0)), units

    @cached_property
    def _has_many_inequalities(self) -> bool:
        """Whether a program is large and has so many inequalities that its matrices should not be eliminated."""
        sizes, num_forms = [turn.shape[1] for turn in self.turns], len(self.program.forms)
        unknowns = sum(size * (size + 1) // 2 for size in sizes) + len(self.free)
        large = num_forms * sum(size**2 for size in sizes) > _MANY
        return large and self.pivots is None and not self.program.equalities and unknowns < _MORE * num_forms

    @cached_property
    def data(self) -> Data:
        """The program as arrays of doubles."""
        table, (wholes, variables) = self._table, self._in_doubles
        (rows, units), num_forms, grams = self._scales, len(self.program.forms), list[Any]()
        sparse = self._has_many_inequalities
        for (block, _), own, turn in zip(table.blocks, wholes, self.turns, strict=True):
            entries = own * rows[block.forms] * np.where(block.rows == block.columns, 1.0, 0.5)
            shape = num_forms, turn.shape[1], turn.shape[1]
            if sparse:
                grams.append(SparseForms(shape, block.forms, block.rows, block.columns, entries))
            else:
                gram = np.zeros(shape)
                gram[block.forms, block.rows, block.columns] = entries
                gram[block.forms, block.columns, block.rows] = entries
                grams.append(gram[self._kept])
        variables = variables * np.outer(rows, units)
        bounds = _doubles(table.bounds) * rows
        loose = 1.0 * (self._kept[1:] > len(self.program.equalities))
        return Data(tuple(grams), variables[self._kept], bounds[self._kept[1:]], loose)

    def recast(self, state: State) -> tuple[Coordinates, State]:
        """Return coordinates in which a state's Gram matrices are unit matrices, and the state in these coordinates."""
        # A bound of the rounding errors is added to the diagonals.
        definite = (G + 1e-13 * np.diag(G.diagonal()) for G in state.grams)
        triangles = [_exact(cholesky(G / state.tau)) for G in definite]
        turns = tuple(product(T, L) for T, L in zip(self.turns, triangles, strict=True))
        # Equalities first, then inequalities in the order of multiplier over slack.
        own = self._kept[1:]
        loose = own > len(self.program.equalities)
        tightness = np.where(loose, state.multipliers / np.where(loose, state.slacks, 1.0), np.inf)
        order = own[np.argsort(-tightness, kind="stable")].tolist()
        order = [*({*range(1, len(self.program.forms))} - {*order}), *order]
        rows = [{place: c for place, c in enumerate(self._levels[row]) if c} for row in order]
        pivots = tuple(order[place] - 1 for place in independent(rows))
        if len(pivots) < len(self.free):
            message = "function values must be in constraints, got one in the objective only"
            raise ArithmeticError(message)
        found = Coordinates(self.program, self.free, turns, pivots)
        return found, self._translated(state, triangles, found)

    def _translated(self, state: State, triangles: Sequence[Exact], found: Coordinates) -> State:
        """Return a state in other coordinates."""
        (rows, _), (new_rows, units) = self._scales, found._scales
        whole_multipliers, whole_slacks = np.zeros(rows.size), np.zeros(rows.size)
        whole_multipliers[self._kept[1:]] = state.multipliers
        whole_slacks[self._kept[1:]] = state.slacks
        ratio = new_rows / rows
        slacks = whole_slacks * ratio
        return State(
            grams=tuple(np.eye(len(L)) * state.tau for L in triangles),
            values=(slacks / new_rows)[found._slack_rows] / units,
            slacks=slacks[found._kept[1:]],
            multipliers=(whole_multipliers / ratio * ratio[0])[found._kept[1:]],
            # In doubles these products would lose their digits by cancellation.
            dual_slacks=tuple(
                _doubles(product(product(L.T, _exact(Z)), L)) * ratio[0]
                for L, Z in zip(triangles, state.dual_slacks, strict=True)
            ),
            tau=state.tau,
            kappa=state.kappa * ratio[0],
        )

    def point(self, state: State, *, along: bool = False) -> FeasiblePoint:
        """Return a state's point, or with ``along`` its direction, in rationals that fulfill the equalities."""
        rows, units = self._scales
        share = 1.0 if along else 1.0 / float(state.tau)
        own = [_exact(gram * share) for gram in state.grams]
        variables = _exact(state.values * (share * units))
        bounds = [constraint.bound * (not along) for constraint in self._constraints]
        ties = self._kept[(self._kept > 0) & (self._kept <= len(self.program.equalities))]
        if not ties.size:
            return self._in_program(own, variables, bounds)
        # The smallest change that removes the residuals, repeated until they are negligible.
        data, tied = self.data, np.arange(1, 1 + ties.size)
        matrices = [np.array([gram[row] for row in tied]) for gram in data.grams]
        effects = [*(matrix.reshape(ties.size, -1) for matrix in matrices), data.values[tied]]
        parts = np.cumsum([effect.shape[1] for effect in effects])[:-1]
        for _ in range(_REFINEMENTS):
            reached = forms_at(self.program, self._in_program(own, variables, bounds))
            missing = np.array([float(bounds[row - 1] - reached[row]) for row in ties]) * rows[ties]
            *changes, change = np.split(np.linalg.lstsq(np.hstack(effects), missing)[0], parts)
            own = [G + _exact(X.reshape(G.shape)) for G, X in zip(own, changes, strict=True)]
            variables = variables + _exact(change * units)
        return _on_equalities(self.program, self._in_program(own, variables, bounds), bounds)

    def _in_program(self, own: Sequence[Exact], variables: Exact, bounds: Sequence[Fraction]) -> FeasiblePoint:
        """Return a point of these coordinates as a point of the program with these right-hand sides."""
        grams = [product(product(T, _symmetric(G)), T.T) for T, G in zip(self.turns, own, strict=True)]
        values = np.full(len(self.program.values), Fraction(0), dtype=object)
        if self.pivots is not None:
            # The rows of the pivots determine the function values.
            left = np.full(len(self.pivots), Fraction(0), dtype=object)
            left[[self._pivot_rows.index(row) for row in self._slack_rows]] = -variables
            taken = forms_at(self.program, FeasiblePoint.of(grams, values))
            variables = self._to_values @ (left + [bounds[p] - taken[1 + p] for p in self.pivots])
        values[list(self.free)] = variables
        return FeasiblePoint.of(grams, values)

    def multipliers(self, state: State, *, of_objective: bool) -> Multipliers:
        """Return a state's multipliers as rationals, corrected so that function values cancel."""
        rows, _ = self._scales
        scales = rows * (1.0 / (float(state.tau) * rows[0]) if of_objective else 1.0)
        found = np.full(rows.size, Fraction(0), dtype=object)
        found[self._kept[1:]] = _exact(state.multipliers * scales[self._kept[1:]])
        return _balanced(self.program, found[1:].tolist(), Fraction(-1 if of_objective else 0))


def first_coordinates(program: Program) -> Coordinates:
    """Return the coordinates of a program in units of its largest bound, without redundant unknowns."""
    free = tuple(independent(program.value_columns))
    units = tuple(_exact(np.eye(size)) for size in program.sizes)
    whole = Coordinates(program, free, units)
    data = whole.data
    unit = Fraction(float(power_of_two(np.sqrt(np.abs(data.bounds).max(initial=0.0) or 1.0))))
    stacked = (g.seen() if isinstance(g, SparseForms) else g.reshape(-1, g.shape[-1]) for g in data.grams)
    seen = [_independent(rows) for rows in stacked]
    return Coordinates(program, free, tuple(unit * one[:, kept] for one, kept in zip(units, seen, strict=True)))


def _selected(program: Program, number: int, turn: Exact) -> tuple[Block, int]:
    """Return a block in a new basis that consists of multiples of some old basis vectors."""
    block, places = program.rows.blocks[number], np.full(len(turn), -1)
    olds, news = turn.nonzero()
    places[olds] = news
    scale = turn[olds[0], news[0]] ** 2 if olds.size else Fraction(1)
    inside = (places[block.rows] >= 0) & (places[block.columns] >= 0)
    found = Block(
        block.forms[inside],
        places[block.rows[inside]],
        places[block.columns[inside]],
        block.wholes[inside] * scale.numerator,
    )
    return found, program.rows.denominator * scale.denominator


def _turned(program: Program, number: int, turn: Exact, lost: Exact, pivots: Sequence[int]) -> tuple[Block, int]:
    """Return a block in other coordinates, with multiples of the pivots' rows subtracted from its rows."""
    block, (size, rank) = program.rows.blocks[number], turn.shape
    doubled = np.zeros((len(program.forms), size, size), dtype=object)
    doubled[block.forms, block.rows, block.columns] += block.wholes
    doubled[block.forms, block.columns, block.rows] += block.wholes
    wholes, unit = over_common(turn.ravel().tolist())
    T = wholes.reshape(size, rank)
    half = whole_product(doubled.reshape(-1, size), T).reshape(len(doubled), size, rank)
    rows = whole_product(half.swapaxes(1, 2).reshape(-1, size), T).reshape(len(doubled), rank**2)
    factors, share = over_common(lost.ravel().tolist())
    left = share * rows - whole_product(factors.reshape(lost.shape), rows[list(pivots)])
    i, j = np.triu_indices(rank)
    # Twice the matrix: an off-diagonal entry counts for both triangles.
    entries = left.reshape(len(doubled), rank, rank)[:, i, j] * np.where(i == j, 1, 2)
    forms, columns = entries.nonzero()
    found = Block(forms, i[columns], j[columns], entries[forms, columns])
    return found, 2 * program.rows.denominator * unit**2 * share


def _doubles(numbers: Exact) -> Array:
    """Round rationals, most of which are 0."""
    found = np.zeros(numbers.shape)
    places = numbers.nonzero()
    found[places] = [number.numerator / number.denominator for number in numbers[places].tolist()]
    return found


def _over(wholes: Exact, denominator: int) -> Array:
    """Divide integers, many of which are equal."""
    numbers = wholes.tolist()
    known = {number: number / denominator for number in {*numbers}}
    return np.array([known[number] for number in numbers], dtype=float)


def _exact(numbers: Array) -> Exact:
    """Return doubles as rationals without rounding."""
    if not np.isfinite(numbers).all():
        message = "rationals must come from finite numbers, got some that are not"
        raise FloatingPointError(message)
    found = np.empty(numbers.shape, dtype=object)
    found.ravel()[:] = [Fraction(number) for number in numbers.ravel().tolist()]
    return found


def _symmetric(matrix: Exact) -> Exact:
    """Copy the lower triangle to the upper one, which may differ by rounding."""
    return np.tril(matrix) + np.tril(matrix, -1).T


def _independent(columns: Array) -> Any:
    """Return the numbers of columns that are a basis of the column space, in order; shape (rows, columns)."""
    from scipy.linalg import qr

    if 0 in columns.shape:
        return np.zeros(0, dtype=int)
    triangle, order = qr(columns, mode="r", pivoting=True)
    sizes = np.abs(np.diag(triangle))
    return np.sort(order[: int((sizes > _NEGLIGIBLE * sizes[0]).sum())])


def _on_equalities(program: Program, point: FeasiblePoint, bounds: Sequence[Fraction]) -> FeasiblePoint:
    """Change a point so that all equalities hold exactly.

    This uses the program's own coordinates, whose coefficients are short. In other coordinates, 75 equations take
    rationals of 15,000 bits.
    """
    num_equalities, columns = len(program.equalities), dict[tuple[int, ...], dict[int, Fraction]]()
    for number, (block, gram) in enumerate(zip(program.rows.blocks, point.grams, strict=True)):
        for row, i, j, entry in zip(*(part.tolist() for part in block), strict=True):
            if 0 < row <= num_equalities and gram[i][i] and gram[j][j]:
                columns.setdefault((number, i, j), {})[row] = Fraction(entry, program.rows.denominator)
    for row, value, c in program.levels:
        if 0 < row <= num_equalities:
            columns.setdefault((value,), {})[row] = c
    reached = forms_at(program, point)
    missing = {row: bounds[row - 1] - reached[row] for row in range(1, 1 + num_equalities)}
    grams, values = [[list(row) for row in gram] for gram in point.grams], list(point.values)
    places = sorted(columns, key=lambda place: len(columns[place]))  # first the entries that occur in no other equality
    for number, change in solve_exactly([columns[place] for place in places], missing).items():
        match places[number]:
            case (value,):
                values[value] += change
            case (block_number, i, j):
                grams[block_number][i][j] += change
                grams[block_number][j][i] = grams[block_number][i][j]
    return FeasiblePoint.of(grams, values)


def _balanced(program: Program, factors: list[Fraction], of_objective: Fraction) -> Multipliers:
    """Correct the largest multipliers so that the function values cancel exactly."""
    num_equalities = len(program.equalities)
    missing = {place: -c for place, c in enumerate(value_balance(program, (of_objective, *factors))) if c}
    order = sorted(range(len(factors)), key=lambda row: (row >= num_equalities, -factors[row]))
    columns: list[dict[int, Fraction]] = [{} for _ in factors]
    for row, place, c in program.levels:
        if row:
            columns[row - 1][place] = c
    for place, change in solve_exactly([columns[row] for row in order], missing).items():
        factors[order[place]] += change
    return Multipliers(tuple(factors[num_equalities:]), tuple(factors[:num_equalities]))
