"""Hand a program to an interior-point solver, in floating point: its answer is a hint, never a result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np

from fedtheory._validate import Array
from fedtheory.errors import AssumptionViolated, OracleError
from fedtheory.worst_case._packing import packed, triangle, unpacked
from fedtheory.worst_case.gram import Program

__all__ = ["Assembled", "Empty", "Solution", "assemble", "solve", "tightened"]


@final
@dataclass(frozen=True)
class Assembled:
    """A program as arrays: rows are the objective, then the equalities, then the inequalities.

    Attributes
    ----------
    sizes
        Numbers of rows of the blocks.
    rows
        Coefficients of the Gram matrices, block by block, and of the function values, shape (rows, columns). Of a Gram
        matrix stands the upper triangle column by column, off-diagonal entries counted once and scaled by sqrt(2).
    bounds
        Right-hand sides; 0 for the objective, shape (rows,).
    num_equalities
        Number of equalities.
    """

    sizes: tuple[int, ...]
    rows: Any
    bounds: Array
    num_equalities: int

    @property
    def num_entries(self) -> int:
        """Number of columns that belong to Gram matrices."""
        return sum(size * (size + 1) // 2 for size in self.sizes)

    @property
    def traces(self) -> Array:
        """The sum of all traces as a row."""
        ones = packed([np.eye(size) for size in self.sizes])
        return np.concatenate([ones, np.zeros(self.rows.shape[1] - self.num_entries)])


class Solution(NamedTuple):
    """What the solver says.

    Attributes
    ----------
    roots
        Of each Gram matrix G a matrix V with ``G = V' V``, shape (n, n).
    values
        Function values, in the order of ``program.values``.
    multipliers, equality_multipliers
        Of the inequalities (at least 0) and of the equalities.
    """

    roots: tuple[Array, ...]
    values: Array
    multipliers: Array
    equality_multipliers: Array

    @property
    def grams(self) -> tuple[Array, ...]:
        """Gram matrices, one per block, shape (n, n)."""
        return tuple(root.T @ root for root in self.roots)


class Empty(OracleError):
    """Nothing fulfills the constraints; ``multipliers`` combine them to a contradiction."""

    def __init__(self, multipliers: Array) -> None:
        super().__init__("the solver must end with a solution, got constraints that contradict each other")
        self.multipliers = multipliers


def assemble(program: Program) -> Assembled:
    """Write a program as arrays.

    Parameters
    ----------
    program
        To be maximized.

    Returns
    -------
    Assembled
        Sparse rows, the objective first.

    Examples
    --------
    Objective ``2 |x|^2`` above the constraint ``|x|^2 <= 3``.

    >>> from fedtheory.worst_case.gram import Draft
    >>> draft = Draft()
    >>> x = draft.vector()
    >>> draft.at_most(x.square, 3)
    >>> program = draft.maximize(2 * x.square)
    >>> arrays = assemble(program)
    >>> arrays.rows.toarray().tolist(), arrays.bounds.tolist()
    ([[2.0], [1.0]], [0.0, 3.0])
    """
    from scipy.sparse import csr_array, hstack

    pairs: dict[tuple[int, int], int] = {}
    rows = [row for row, _, _ in program.products]
    columns = [pairs.setdefault((min(pair), max(pair)), len(pairs)) for _, pair, _ in program.products]
    left, right = np.array(list(pairs)).T
    shape = (len(program.forms), len(pairs))
    on_pairs = csr_array((_floats(program.products), (rows, columns)), shape=shape)
    parts = [
        csr_array(on_pairs @ _products(_coordinates(program, block, size), left, right))
        for block, size in enumerate(program.sizes)
    ]
    bounds = [0.0, *(float(constraint.bound) for constraint in (*program.equalities, *program.inequalities))]
    places = ([row for row, _, _ in program.levels], [value for _, value, _ in program.levels])
    on_values = csr_array((_floats(program.levels), places), shape=(len(program.forms), len(program.values)))
    together = hstack([*parts, on_values], format="csr")
    return Assembled(program.sizes, together, np.array(bounds), len(program.equalities))


def _floats(terms: Any) -> Array:
    return np.array([c.numerator / c.denominator for _, _, c in terms])


def _coordinates(program: Program, block: int, size: int) -> Array:
    found = np.zeros((len(program.vectors), size))
    for vector, number in program.vectors.items():
        for (home, place), c in vector.coordinates.items():
            if home == block:
                found[number, place] = c.numerator / c.denominator
    return found


def _products(vectors: Array, left: Any, right: Any) -> Any:
    # <u, v> as a linear function of the Gram matrix's upper triangle.
    i, j = triangle(vectors.shape[1])
    first, second = vectors[:, i], vectors[:, j] * np.where(i == j, 0.5, np.sqrt(0.5))
    # In place: large programs are bound by the memory that goes back and forth.
    found, other = first[left], second[left]
    found *= second[right]
    other *= first[right]
    found += other
    return found


def tightened(assembled: Assembled, room: float) -> Assembled:
    """Lower the bounds of all inequalities by a number.

    Parameters
    ----------
    assembled
        What the solver is given.
    room
        How much.

    Returns
    -------
    Assembled
        A new one; equalities stay.

    Examples
    --------
    >>> from fedtheory.worst_case.gram import Draft
    >>> draft = Draft()
    >>> x = draft.vector()
    >>> draft.at_most(x.square, 3)
    >>> program = draft.maximize(2 * x.square)
    >>> tightened(assemble(program), 0.5).bounds.tolist()
    [0.0, 2.5]
    """
    lowered = np.arange(assembled.bounds.size) > assembled.num_equalities
    return replace(assembled, bounds=assembled.bounds - room * lowered)


def solve(assembled: Assembled, *, gram_weight: float = 0.0, tolerance: float = 1e-9) -> Solution:
    """Solve a program approximately.

    Parameters
    ----------
    assembled
        What to maximize.
    gram_weight
        eps: ``eps tr G`` is added to the objective, so that the dual slack becomes at least ``eps I``.
    tolerance
        Of the solver.

    Returns
    -------
    Solution
        The point and the multipliers, as floats.

    Raises
    ------
    Empty
        If nothing fulfills the constraints.
    AssumptionViolated
        If the objective has no bound.
    OracleError
        If the solver ends without a solution; the sentence has the solver's word.

    Examples
    --------
    The largest ``2 |x|^2`` where ``|x|^2 <= 3`` has ``|x|^2 = 3``; a limit that is higher by 1 adds 2.

    >>> from fedtheory.worst_case.gram import Draft
    >>> draft = Draft()
    >>> x = draft.vector()
    >>> draft.at_most(x.square, 3)
    >>> program = draft.maximize(2 * x.square)
    >>> found = solve(assemble(program))
    >>> found.grams[0].round(6).tolist(), found.multipliers.round(6).tolist()
    ([[3.0]], [2.0])
    """
    import clarabel
    from scipy.sparse import csc_array, eye_array, vstack

    num_rows, num_columns = assembled.rows.shape
    entries = assembled.num_entries
    objective = assembled.rows[[0]].toarray().ravel() + gram_weight * assembled.traces
    system = csc_array(vstack([assembled.rows[1:], -eye_array(entries, num_columns)]))
    cones = [
        clarabel.ZeroConeT(assembled.num_equalities),
        clarabel.NonnegativeConeT(num_rows - 1 - assembled.num_equalities),
        *(clarabel.PSDTriangleConeT(size) for size in assembled.sizes),
    ]
    right = np.concatenate([assembled.bounds[1:], np.zeros(entries)])
    quadratic = csc_array((objective.size, objective.size))
    found = clarabel.DefaultSolver(quadratic, -objective, system, right, cones, _precise(tolerance)).solve()
    _check(str(found.status), np.array(found.z)[: num_rows - 1])
    return _solution(assembled, found)


def _precise(tolerance: float) -> Any:
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    # Shorter steps end more centrally: half the violation that is left.
    settings.max_step_fraction = 0.95
    return settings


def _check(status: str, multipliers: Array) -> None:
    if status.endswith("PrimalInfeasible"):
        raise Empty(multipliers)
    if status.endswith("DualInfeasible"):
        message = "the worst case must be finite, got a class in which there is none"
        raise AssumptionViolated(message)
    if status not in ("Solved", "AlmostSolved", "InsufficientProgress"):
        message = f"the solver must end with a solution, got {status}"
        raise OracleError(message)


def _solution(assembled: Assembled, found: Any) -> Solution:
    x, z = np.array(found.x), np.array(found.z)
    first = assembled.num_equalities
    return Solution(
        roots=tuple(_root(gram) for gram in unpacked(assembled.sizes, x)),
        values=x[assembled.num_entries :],
        multipliers=np.maximum(z[first : assembled.rows.shape[0] - 1], 0.0),
        equality_multipliers=z[:first],
    )


def _root(gram: Array) -> Array:
    lengths, vectors = np.linalg.eigh(gram)
    found: Array = np.sqrt(np.maximum(lengths, 0.0))[:, None] * vectors.T
    return found
