"""Exact multipliers of a family of semidefinite programs at rational constants, from approximate ones.

An approximate solution says which conditions are used and which rank the matrix of the sum of squares has. Given these,
the optimality conditions are polynomial equations. Newton's method solves them to a hundred digits, and continued
fractions return the rational numbers that the multipliers are. Nothing here is trusted.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, final

import numpy as np

from fedtheory.errors import OracleError
from fedtheory.worst_case._constants import function_of
from fedtheory.worst_case._semidefinite import Program

__all__: list[str] = []

_SMALL = 1e-5
"""Multipliers and eigenvalues below this share of the largest are taken as 0."""
_SAME = 1e-6
"""Relative difference of two values that are taken as equal."""
_DIGITS = 160
_MOST_STEPS = 40
Point = tuple[Fraction, ...]


class Solution(NamedTuple):
    """An approximate solution: multipliers, Gram matrices of a worst case, and the value."""

    multipliers: Any
    grams: list[Any]
    value: float


class Shape(NamedTuple):
    """Which conditions have multipliers, and for each block the rows by which its null space is described."""

    active: tuple[int, ...]
    free: tuple[tuple[int, ...], ...]


class Unknowns(NamedTuple):
    """Multipliers, null spaces, Gram matrices in these, and function values; entries may be floats or long numbers."""

    multipliers: Any
    nulls: list[Any]
    inner: list[Any]
    values: Any


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

    Attributes
    ----------
    labels
        Of the constraints.
    num_equalities
        How many constraints, the first ones, are equalities.
    forms, levels, bounds
        Coefficients of the objective and of the constraints, as rational functions.
    solves
        How many semidefinite programs were solved.
    """

    def __init__(self, program: Program, field: Any) -> None:
        self.sizes, self.field, self.solves = program.sizes, field, 0
        self.labels = [one.label for one in program.constraints]
        self.num_equalities = len(program.equalities)
        self.forms = [_products(form, field) for form in program.forms]
        numbers = {value: k for k, value in enumerate(program.values)}
        self.num_values = len(numbers)
        self.levels = [
            {numbers[f]: function_of(c, field) for f, c in form.values.items() if f in numbers and c}
            for form in program.forms
        ]
        self.bounds = [function_of(one.bound, field) for one in program.constraints]

    def becomes(self, other: Family, point: Point) -> bool:
        """Whether another family, of a program at numbers, is this one at these constants."""

        def at(functions: Mapping[Any, Any]) -> dict[Any, Any]:
            values = {key: function_of(evaluate(one, point), self.field) for key, one in functions.items()}
            return {key: c for key, c in values.items() if c}

        mine, others = ((*one.forms, *one.levels, dict(enumerate(one.bounds))) for one in (self, other))
        kinds = [(one.sizes, one.num_equalities, len(one.labels)) for one in (self, other)]
        return kinds[0] == kinds[1] and [*map(at, mine)] == [{k: c for k, c in one.items() if c} for one in others]

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
        """Leave out constraints until the multipliers are unique; None if there is no solution."""
        kept = [*range(len(self.labels))]
        found = self.solved(numbers, kept)
        if found is None:
            return None
        value = found.value
        while True:
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

    def start(self, numbers: Numbers, shape: Shape, kept: Sequence[int], found: Solution) -> Unknowns:
        """Write an approximate solution in the unknowns of the optimality conditions."""
        y = np.array([found.multipliers[[*kept].index(k)] for k in shape.active])
        nulls, inner = [], []
        slack = _slacks(numbers, shape, y)
        for block, rows in enumerate(shape.free):
            vectors = np.linalg.eigh(slack[block])[1][:, : len(rows)]
            null = vectors @ np.linalg.inv(vectors[[*rows]]) if rows else vectors
            nulls.append(null)
            inner.append(found.grams[block][np.ix_(rows, rows)])
        return Unknowns(y, nulls, inner, self._values(numbers, shape, nulls, inner))

    def _values(self, numbers: Numbers, shape: Shape, nulls: Sequence[Any], inner: Sequence[Any]) -> Any:
        """Return the function values at which the used constraints hold with equality, in least squares."""
        left = [numbers.bounds[k] - _trace(numbers, k + 1, nulls, inner) for k in shape.active]
        return np.linalg.lstsq(numbers.levels[[k + 1 for k in shape.active]], np.array(left), rcond=None)[0]

    def newton(self, numbers: Numbers, shape: Shape, start: Unknowns) -> Unknowns | None:
        """Solve the optimality conditions in doubles; None if they lead to no optimal solution."""
        now, size = start, np.inf
        for _ in range(_MOST_STEPS):
            residual = _residual(numbers, shape, now)
            size, before = float(np.abs(residual).max(initial=0)), size
            if size < 1e-11 or (size < 1e-7 and size > before / 4):
                return now if self._is_optimal(numbers, shape, now) else None
            if not np.isfinite(size) or size > 1e6:
                return None
            step = np.linalg.lstsq(_jacobian(numbers, shape, now), residual, rcond=1e-10)[0]
            now = _moved(now, shape, step)
        return None

    def _is_optimal(self, numbers: Numbers, shape: Shape, now: Unknowns) -> bool:
        signed = [y for k, y in zip(shape.active, now.multipliers, strict=True) if k >= self.num_equalities]
        slacks = _slacks(numbers, shape, now.multipliers)
        return min(signed, default=0) > -1e-7 and all(
            np.linalg.eigvalsh(matrix).min(initial=0) > -1e-7 for matrix in (*slacks, *now.inner)
        )

    def polished(
        self, exact: Numbers, shape: Shape, near: Unknowns, left_open: Sequence[int] = ()
    ) -> list[Fraction | None] | None:
        """Return the multipliers as fractions, or None if one is not rational with few digits; some are left open."""
        from mpmath import mp, mpf

        with mp.workdps(_DIGITS):
            long = exact.converted(lambda number: mpf(number.numerator) / number.denominator)
            turn = np.frompyfunc(mpf, 1, 1)
            now = Unknowns(turn(near.multipliers), [turn(one).astype(object) for one in near.nulls],
                           [turn(one).astype(object) for one in near.inner], turn(near.values))  # fmt: skip
            back = np.linalg.pinv(_jacobian(exact.converted(float), shape, near), rcond=1e-10)
            goal = mpf(10) ** (20 - _DIGITS)
            for _ in range(_MOST_STEPS):
                residual = _residual(long, shape, now)
                size = max(map(abs, residual), default=mpf(0))
                if size < goal:
                    pairs = [*zip(shape.active, now.multipliers, strict=True)]
                    found = [None if k in left_open else _rational(y) for k, y in pairs]
                    is_known = all(k in left_open or y is not None for k, y in zip(shape.active, found, strict=True))
                    return found if is_known else None
                scaled = np.array([float(r / size) for r in residual])
                now = _moved(now, shape, turn(back @ scaled) * size)
        return None


def evaluate(function: Any, point: Point) -> Fraction:
    """Return the value of a rational function; ZeroDivisionError at a pole."""
    above, below = (
        sum(
            (Fraction(int(c.numerator), int(c.denominator)) * _power(point, monomial) for monomial, c in part.terms()),
            start=Fraction(0),
        )
        for part in (function.numer, function.denom)
    )
    return above / below


def _power(point: Point, exponents: Sequence[int]) -> Fraction:
    found = Fraction(1)
    for x, n in zip(point, exponents, strict=True):
        found *= x**n
    return found


def _products(form: Any, field: Any) -> dict[tuple[int, int, int], Any]:
    """Multiply out the products of vectors: coefficients of the entries (block, i, j) with i <= j."""
    found: dict[tuple[int, int, int], Any] = {}
    for (u, v), c in form.products.items():
        for (block, i), a in u.coordinates.items():
            for (other, j), b in v.coordinates.items():
                if block == other and c:
                    key = (block, min(i, j), max(i, j))
                    found[key] = found.get(key, field.zero) + function_of(c * a * b, field)
    return {key: c for key, c in found.items() if c}


def _is_same(one: float, other: float) -> bool:
    return abs(one - other) <= _SAME * max(abs(one), abs(other), 1e-3)


def _pivot_rows(null: Any) -> list[int]:
    """Return rows in which a basis of a space is invertible, the largest pivots first."""
    from scipy.linalg import qr

    return sorted(int(k) for k in qr(null.T, pivoting=True)[2][: null.shape[1]]) if null.shape[1] else []


def _slacks(numbers: Numbers, shape: Shape, y: Any) -> list[Any]:
    rows = [k + 1 for k in shape.active]
    return [np.tensordot(y, matrix[rows], 1) - matrix[0] if rows else -matrix[0] for matrix in numbers.matrices]


def _trace(numbers: Numbers, row: int, nulls: Sequence[Any], inner: Sequence[Any]) -> Any:
    """Return a form at the Gram matrices that the null spaces describe."""
    found: Any = 0
    for matrix, null, gram in zip(numbers.matrices, nulls, inner, strict=True):
        if null.shape[1]:
            found = found + (null.T.dot(matrix[row]).dot(null) * gram).sum()
    return found


def _residual(numbers: Numbers, shape: Shape, at: Unknowns) -> Any:
    parts: list[Any] = []
    for slack, null in zip(_slacks(numbers, shape, at.multipliers), at.nulls, strict=True):
        if null.shape[1]:
            parts += [*slack.dot(null).ravel()]
    rows = [k + 1 for k in shape.active]
    parts += [*(at.multipliers.dot(numbers.levels[rows]) - numbers.levels[0])] if numbers.levels.shape[1] else []
    for k in shape.active:
        level = numbers.levels[k + 1].dot(at.values) if numbers.levels.shape[1] else 0
        parts.append(_trace(numbers, k + 1, at.nulls, at.inner) + level - numbers.bounds[k])
    return np.array(parts, dtype=object if at.multipliers.dtype == object else float)


def _jacobian(numbers: Numbers, shape: Shape, at: Unknowns) -> Any:
    """Return the derivatives of the residual, one column for each unknown, in the order of ``_moved``."""
    rows = [k + 1 for k in shape.active]
    slacks, columns = _slacks(numbers, shape, at.multipliers), []
    nothing = [np.zeros_like(null) for null in at.nulls]

    def column(squares: Sequence[Any], levels: Any, traces: Any) -> Any:
        return np.concatenate([*(part.ravel() for part in squares), levels, traces])

    no_levels, no_traces = np.zeros(numbers.levels.shape[1]), np.zeros(len(rows))
    for row in rows:
        squares = [matrix[row] @ null for matrix, null in zip(numbers.matrices, at.nulls, strict=True)]
        columns.append(column(squares, numbers.levels[row], no_traces))
    for block, (i, j) in _null_places(shape, at):
        change = np.zeros_like(at.nulls[block])
        change[i, j] = 1.0
        squares = [*nothing]
        squares[block] = slacks[block] @ change
        weight = at.nulls[block] @ at.inner[block] @ change.T
        traces = np.array([2 * (numbers.matrices[block][row] * weight).sum() for row in rows])
        columns.append(column(squares, no_levels, traces))
    for block, (i, j) in _inner_places(shape):
        change = np.zeros_like(at.inner[block])
        change[i, j] = change[j, i] = 1.0
        weight = at.nulls[block] @ change @ at.nulls[block].T
        traces = np.array([(numbers.matrices[block][row] * weight).sum() for row in rows])
        columns.append(column(nothing, no_levels, traces))
    for place in range(numbers.levels.shape[1]):
        columns.append(column(nothing, no_levels, numbers.levels[rows, place]))
    return np.array(columns, dtype=float).T


def _null_places(shape: Shape, at: Unknowns) -> list[tuple[int, tuple[int, int]]]:
    return [
        (block, (i, j))
        for block, (null, free) in enumerate(zip(at.nulls, shape.free, strict=True))
        for i in range(len(null))
        if i not in free
        for j in range(len(free))
    ]


def _inner_places(shape: Shape) -> list[tuple[int, tuple[int, int]]]:
    return [(b, (i, j)) for b, free in enumerate(shape.free) for i in range(len(free)) for j in range(i, len(free))]


def _moved(at: Unknowns, shape: Shape, step: Any) -> Unknowns:
    """Return the unknowns less a step."""
    y = at.multipliers - step[: len(shape.active)]
    nulls, inner, place = [one.copy() for one in at.nulls], [one.copy() for one in at.inner], len(shape.active)
    for block, where in _null_places(shape, at):
        nulls[block][where] = nulls[block][where] - step[place]
        place += 1
    for block, (i, j) in _inner_places(shape):
        inner[block][i, j] = inner[block][i, j] - step[place]
        inner[block][j, i] = inner[block][i, j]
        place += 1
    return Unknowns(y, nulls, inner, at.values - step[place:])


def _rational(number: Any) -> Fraction | None:
    """Return the fraction that a long number is, or None if it is none with few digits."""
    from mpmath import floor, mpf

    rest, (p0, q0), (p1, q1) = number, (0, 1), (1, 0)
    for _ in range(_DIGITS):
        whole = int(floor(rest))
        (p0, q0), (p1, q1) = (p1, q1), (p0 + whole * p1, q0 + whole * q1)
        if q1 > 10 ** (_DIGITS // 3):
            return None
        if abs(number - mpf(p1) / q1) < mpf(10) ** (30 - _DIGITS):
            return Fraction(p1, q1)
        rest = 1 / (rest - whole)
    return None
