"""Exact multipliers of a family of semidefinite programs at rational constants, from approximate ones.

An approximate solution says which conditions are used and which rank the matrix of the sum of squares has. Given these,
the optimality conditions are polynomial equations. Newton's method solves them to a hundred digits, and the multipliers
are the rational numbers of few digits that are this close. Nothing here is trusted.

The unknowns of these equations are one array. It holds the multipliers y; then, for each block, a basis N of the null
space of the slack matrix ``sum y_k A_k - A_0``, and a matrix G with the worst case's Gram matrix ``N G N'``; then the
function values. N is the identity in some rows, the free ones, and the array holds its other rows. Of G it holds the
upper triangle.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, final

import numpy as np

from fedtheory.errors import OracleError
from fedtheory.worst_case._constants import evaluate, function_of, vanishes
from fedtheory.worst_case._semidefinite import Program

_SMALL = 1e-5
"""Multipliers and eigenvalues below this share of the largest are taken as 0."""
_SAME = 1e-6
"""Relative difference of two values that are taken as equal."""
_MOST_SOLVES = 300
"""Semidefinite programs that are solved before the search for unique multipliers ends."""
_DIGITS = 160
_MOST_STEPS = 40
Point = tuple[Fraction, ...]


class Solution(NamedTuple):
    """An approximate solution: multipliers, Gram matrices of a worst case, and the value."""

    multipliers: Any
    grams: list[Any]
    value: float


class Shape(NamedTuple):
    """Which conditions have multipliers, and the free rows of each block."""

    active: tuple[int, ...]
    free: tuple[tuple[int, ...], ...]


@final
@dataclass(frozen=True)
class Numbers:
    """A program at rational constants: coefficients of its forms, the objective first."""

    matrices: list[Any]
    levels: Any
    bounds: Any

    def converted(self, number: Any) -> Numbers:
        """Return the same with other numbers in the place of fractions."""
        change = np.frompyfunc(number, 1, 1)
        kind: Any = float if number is float else object
        try:
            matrices, *others = [[change(m).astype(kind) for m in self.matrices], change(self.levels).astype(kind),
                                 change(self.bounds).astype(kind)]  # fmt: skip
        except OverflowError:
            message = "a program must have coefficients below 10^308 in absolute value, got larger ones"
            raise OracleError(message) from None
        return Numbers(matrices, *others)


@final
class Family:
    """The semidefinite program of a problem with named constants.

    ``forms``, ``levels`` and ``bounds`` are coefficients of the objective and of the constraints, equalities first, as
    rational functions. ``solves`` counts the semidefinite programs that were solved.
    """

    def __init__(self, program: Program, field: Any) -> None:
        self.sizes, self.field, self.solves = program.sizes, field, 0
        self.labels = [one.label for one in program.constraints]
        self.num_equalities = len(program.equalities)
        self.forms = [_products(form, field) for form in program.forms]
        numbers = {value: k for k, value in enumerate(program.values)}
        self.num_values = len(numbers)
        self.levels = [
            {numbers[f]: function_of(c, field) for f, c in form.values.items() if f in numbers and not vanishes(c)}
            for form in program.forms
        ]
        self.bounds = [function_of(one.bound, field) for one in program.constraints]

    def becomes(self, other: Family, point: Point) -> bool:
        """Whether another family, of a program at numbers, is this one at these constants."""

        def at(functions: Mapping[Any, Any]) -> dict[Any, Any]:
            values = {key: function_of(evaluate(one, point), self.field) for key, one in functions.items()}
            return {key: c for key, c in values.items() if c}

        def described(family: Family) -> list[Mapping[Any, Any]]:
            return [*family.forms, *family.levels, dict(enumerate(family.bounds))]

        kinds = [(one.sizes, one.num_equalities, len(one.labels)) for one in (self, other)]
        given = [{key: c for key, c in one.items() if c} for one in described(other)]
        return kinds[0] == kinds[1] and [*map(at, described(self))] == given

    def at(self, point: Point) -> Numbers:
        """Return the program at rational constants."""
        known: dict[Any, Fraction] = {}

        def value(function: Any) -> Fraction:
            if function not in known:
                known[function] = evaluate(function, point)
            return known[function]

        zero, count = Fraction(0), len(self.forms)
        matrices: list[Any] = [np.full((count, size, size), zero, dtype=object) for size in self.sizes]
        levels: Any = np.full((count, self.num_values), zero, dtype=object)
        for row, (form, part) in enumerate(zip(self.forms, self.levels, strict=True)):
            for (block, i, j), c in form.items():
                matrices[block][row, i, j] += value(c) / 2
                matrices[block][row, j, i] += value(c) / 2
            for place, c in part.items():
                levels[row, place] = value(c)
        return Numbers(matrices, levels, np.array([*map(value, self.bounds)], dtype=object))

    def solved(self, numbers: Numbers, kept: Sequence[int]) -> Solution | None:
        """Solve the program with some of its constraints in floating point."""
        import cvxpy as cp

        self.solves += 1
        float_numbers, rows = numbers.converted(float), [k + 1 for k in kept]
        y = cp.Variable(len(kept))
        cones = []
        for matrix in float_numbers.matrices:
            size = matrix.shape[1]
            total = cp.reshape(matrix[rows].reshape(len(rows), -1).T @ y - matrix[0].ravel(), (size, size), order="C")
            cones.append((total + total.T) / 2 >> 0)
        limits = [*cones]
        if self.num_values:
            limits.append(float_numbers.levels[rows].T @ y == float_numbers.levels[0])
        first = sum(k < self.num_equalities for k in kept)
        if first < len(kept):
            limits.append(y[first:] >= 0)
        problem = cp.Problem(cp.Minimize(float_numbers.bounds[[*kept]] @ y), limits)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an inaccurate solution is a hint, too
            try:
                problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
            except (cp.SolverError, ValueError):
                return None
        if problem.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
            return None
        return Solution(y.value, [cone.dual_value for cone in cones], float(problem.value))

    def reduced(self, numbers: Numbers) -> tuple[list[int], Solution] | None:
        """Leave out constraints until the multipliers are unique, if they can be; None if there is no solution."""
        kept = [*range(len(self.labels))]
        found = self.solved(numbers, kept)
        if found is None:
            return None
        value = found.value
        while self.solves <= _MOST_SOLVES:
            used = [k for k, y in zip(kept, found.multipliers, strict=True) if self._is_used(k, y, found)]
            if 0 < len(used) < len(kept):
                again = self.solved(numbers, used)
                if again is not None and _is_same(again.value, value):
                    kept, found = used, again
                    continue
            if not self.open(numbers, kept, found):
                return kept, found
            order = sorted(zip(found.multipliers, kept, strict=True), key=lambda pair: float(abs(pair[0])))
            for _, left_out in order:
                if left_out >= self.num_equalities:
                    fewer = [k for k in kept if k != left_out]
                    again = self.solved(numbers, fewer)
                    if again is not None and _is_same(again.value, value):
                        kept, found = fewer, again
                        break
            else:
                break
        return kept, found

    def _is_used(self, number: int, multiplier: float, found: Solution) -> bool:
        return number < self.num_equalities or multiplier > _SMALL * max(1.0, float(np.abs(found.multipliers).max()))

    def open(self, numbers: Numbers, kept: Sequence[int], found: Solution) -> list[int]:
        """Return the constraints whose multipliers may be others with the same value, to first order."""
        float_numbers = numbers.converted(float)
        shape = self.shape(float_numbers, kept, found)
        start = self.start(float_numbers, shape, kept, found)
        _, singular, right = np.linalg.svd(_jacobian(float_numbers, shape, start))
        null = right[int((singular > 1e-7 * singular.max()).sum()) :]
        sizes = np.abs(null[:, : len(shape.active)]).max(axis=0, initial=0)
        return [k for k, size in zip(shape.active, sizes, strict=True) if size > 1e-5]

    def shape(self, numbers: Numbers, kept: Sequence[int], found: Solution) -> Shape:
        """Read off which constraints are used, and the ranks."""
        active = [k for k, y in zip(kept, found.multipliers, strict=True) if self._is_used(k, y, found)]
        free = []
        for matrix in numbers.matrices:
            rows = [k + 1 for k in kept]
            slack = np.tensordot(found.multipliers, matrix[rows], 1) - matrix[0]
            eigen, vectors = np.linalg.eigh(slack)
            null = vectors[:, eigen < _SMALL * max(1.0, float(np.abs(slack).max()))]
            free.append(tuple(_pivot_rows(null)))
        return Shape(tuple(active), tuple(free))

    def start(self, numbers: Numbers, shape: Shape, kept: Sequence[int], found: Solution) -> Any:
        """Write an approximate solution in the unknowns of the optimality conditions."""
        y = np.array([found.multipliers[[*kept].index(k)] for k in shape.active])
        parts, grams, rows = [y], [], [k + 1 for k in shape.active]
        for slack, gram, free in zip(_slacks(numbers, shape, y), found.grams, shape.free, strict=True):
            vectors = np.linalg.eigh(slack)[1][:, : len(free)]
            null = vectors @ np.linalg.inv(vectors[[*free]])
            inner = gram[np.ix_(free, free)]
            parts += [np.delete(null, free, axis=0).ravel(), inner[np.triu_indices(len(free))]]
            grams.append(null @ inner @ null.T)
        # The function values at which the used constraints hold with equality, in least squares.
        left = numbers.bounds[[*shape.active]] - _traces(numbers, rows, grams)
        return np.concatenate([*parts, np.linalg.lstsq(numbers.levels[rows], left, rcond=None)[0]])

    def newton(self, numbers: Numbers, shape: Shape, start: Any) -> Any:
        """Solve the optimality conditions in doubles; None if they lead to no optimal solution."""
        now, size = start, np.inf
        for _ in range(_MOST_STEPS):
            residual = _residual(numbers, shape, now)
            size, before = float(np.abs(residual).max(initial=0)), size
            if size < 1e-11 or (size < 1e-7 and size > before / 4):
                return now if self._is_optimal(numbers, shape, now) else None
            if not np.isfinite(size) or size > 1e6:
                return None
            now = now - np.linalg.lstsq(_jacobian(numbers, shape, now), residual, rcond=1e-10)[0]
        return None

    def _is_optimal(self, numbers: Numbers, shape: Shape, now: Any) -> bool:
        y, _, inner, _ = _unpacked(numbers, shape, now)
        signed = [c for k, c in zip(shape.active, y, strict=True) if k >= self.num_equalities]
        matrices = (*_slacks(numbers, shape, y), *inner)
        return min(signed, default=0) > -1e-7 and all(
            np.linalg.eigvalsh(matrix).min(initial=0) > -1e-7 for matrix in matrices
        )

    def polished(
        self, exact: Numbers, shape: Shape, near: Any, left_open: Sequence[int] = ()
    ) -> list[Fraction | None] | None:
        """Return the multipliers as fractions, or None if one is not rational with few digits; some are left open."""
        from mpmath import mp, mpf

        with mp.workdps(_DIGITS):
            long = exact.converted(lambda number: mpf(number.numerator) / number.denominator)
            turn = np.frompyfunc(mpf, 1, 1)
            now, goal = turn(near), mpf(10) ** (20 - _DIGITS)
            back = np.linalg.pinv(_jacobian(exact.converted(float), shape, near), rcond=1e-10)
            for _ in range(_MOST_STEPS):
                residual = _residual(long, shape, now)
                size = max(map(abs, residual), default=mpf(0))
                if size < goal:
                    found = [None if k in left_open else _rational(now[n]) for n, k in enumerate(shape.active)]
                    return found if found.count(None) == len(left_open) else None
                now = now - turn(back @ (residual / size).astype(float)) * size
        return None


def _products(form: Any, field: Any) -> dict[tuple[int, int, int], Any]:
    """Multiply out the products of vectors: coefficients of the entries (block, i, j) with i <= j."""
    found: dict[tuple[int, int, int], Any] = {}
    for (u, v), c in form.products.items():
        for (block, i), a in u.coordinates.items():
            for (other, j), b in v.coordinates.items():
                if block == other and not vanishes(c):
                    key = (block, min(i, j), max(i, j))
                    found[key] = found.get(key, field.zero) + function_of(c * a * b, field)
    return {key: c for key, c in found.items() if c}


def _is_same(one: float, other: float) -> bool:
    return abs(one - other) <= _SAME * max(abs(one), abs(other), 1e-3)


def _pivot_rows(null: Any) -> list[int]:
    """Return rows in which a basis of a space is invertible, the largest pivots first."""
    from scipy.linalg import qr

    return sorted(int(k) for k in qr(null.T, pivoting=True)[2][: null.shape[1]]) if null.shape[1] else []


def _unpacked(numbers: Numbers, shape: Shape, unknowns: Any) -> tuple[Any, list[Any], list[Any], Any]:
    """Return the multipliers, the bases N, the matrices G, and the function values."""
    count = len(shape.active)
    nulls, inner = [], []
    for matrix, free in zip(numbers.matrices, shape.free, strict=True):
        size, rank = matrix.shape[1], len(free)
        null, gram = np.zeros((size, rank), dtype=unknowns.dtype), np.zeros((rank, rank), dtype=unknowns.dtype)
        null[[*free]] = np.eye(rank, dtype=int)
        others, (i, j) = (size - rank) * rank, np.triu_indices(rank)
        null[np.delete(np.arange(size), free)] = unknowns[count : count + others].reshape(size - rank, rank)
        count += others
        gram[i, j] = gram[j, i] = unknowns[count : count + len(i)]
        count += len(i)
        nulls.append(null)
        inner.append(gram)
    return unknowns[: len(shape.active)], nulls, inner, unknowns[count:]


def _slacks(numbers: Numbers, shape: Shape, y: Any) -> list[Any]:
    rows = [k + 1 for k in shape.active]
    return [np.tensordot(y, matrix[rows], 1) - matrix[0] if rows else -matrix[0] for matrix in numbers.matrices]


def _traces(numbers: Numbers, rows: Sequence[int], grams: Sequence[Any]) -> Any:
    """Return some forms at Gram matrices."""
    pairs = zip(numbers.matrices, grams, strict=True)
    return sum((matrix[rows] * gram).sum(axis=(1, 2)) for matrix, gram in pairs)


def _residual(numbers: Numbers, shape: Shape, unknowns: Any) -> Any:
    """Return what is 0 at an optimal solution: ``slack N``, the levels, and the used constraints."""
    y, nulls, inner, values = _unpacked(numbers, shape, unknowns)
    rows = [k + 1 for k in shape.active]
    grams = [null.dot(gram).dot(null.T) for null, gram in zip(nulls, inner, strict=True)]
    squares = [slack.dot(null).ravel() for slack, null in zip(_slacks(numbers, shape, y), nulls, strict=True)]
    levels, bounds = numbers.levels[rows], numbers.bounds[[*shape.active]]
    return np.concatenate(
        [*squares, y.dot(levels) - numbers.levels[0], _traces(numbers, rows, grams) + levels.dot(values) - bounds]
    )


def _jacobian(numbers: Numbers, shape: Shape, unknowns: Any) -> Any:
    """Return the derivatives of the residual in floating point."""
    from scipy.linalg import block_diag

    y, nulls, inner, values = _unpacked(numbers, shape, unknowns)
    rows = [k + 1 for k in shape.active]
    levels, count = numbers.levels[rows], len(rows)
    by_multipliers, by_blocks, of_traces = [], [], [np.zeros((count, count))]
    blocks = zip(numbers.matrices, _slacks(numbers, shape, y), nulls, inner, shape.free, strict=True)
    for matrix, slack, null, gram, free in blocks:
        moved, (i, j) = matrix[rows] @ null, np.triu_indices(len(free))
        others = np.delete(np.arange(null.size).reshape(null.shape), free, axis=0).ravel()
        by_multipliers.append(moved.reshape(count, null.size).T)
        by_blocks.append(np.pad(np.kron(slack, np.eye(len(free)))[:, others], ((0, 0), (0, len(i)))))
        of_traces.append(2 * (moved @ gram).reshape(count, null.size)[:, others])
        of_traces.append((null.T @ moved)[:, i, j] * np.where(i == j, 1, 2))
    of_squares = np.hstack([np.vstack(by_multipliers), block_diag(*by_blocks)])
    of_levels = np.pad(levels.T, ((0, 0), (0, of_squares.shape[1] - count)))
    no_values = np.zeros((len(of_squares) + len(of_levels), len(values)))
    return np.vstack([np.hstack([np.vstack([of_squares, of_levels]), no_values]), np.hstack([*of_traces, levels])])


def _rational(number: Any) -> Fraction | None:
    """Return the fraction of few digits that a long number is, or None."""
    from mpmath import nint

    long = Fraction(int(nint(number * 10**_DIGITS)), 10**_DIGITS)
    found = long.limit_denominator(10 ** (_DIGITS // 3))
    return found if abs(found - long) < Fraction(1, 10 ** (_DIGITS - 30)) else None
