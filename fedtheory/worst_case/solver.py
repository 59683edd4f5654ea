"""Hand a program to an interior-point solver, in floating point: its answer is a hint, never a result."""

from typing import Any, NamedTuple

import numpy as np

from fedtheory._validate import Array
from fedtheory.errors import OracleError
from fedtheory.worst_case.gram import Program

__all__ = ["Assembled", "Solution", "assemble", "solve"]


class Assembled(NamedTuple):
    """A program as arrays: rows are the objective, then the equalities, then the inequalities.

    Attributes
    ----------
    grams
        Coefficients of the Gram matrix of each block, shape (rows, n (n + 1) / 2): the upper triangle column by column,
        off-diagonal entries counted once and scaled by sqrt(2).
    values
        Coefficients of the function values, shape (rows, number of values).
    bounds
        Right-hand sides; 0 for the objective, shape (rows,).
    """

    grams: tuple[Any, ...]
    values: Any
    bounds: Array


class Solution(NamedTuple):
    """What the solver says.

    Attributes
    ----------
    value, dual_value
        Both objectives.
    grams
        Gram matrices, one per block, shape (n, n).
    values
        Function values, in the order of ``program.values``.
    multipliers, equality_multipliers
        Of the inequalities (at least 0) and of the equalities.
    status
        The solver's word.
    """

    value: float
    dual_value: float
    grams: tuple[Array, ...]
    values: Array
    multipliers: Array
    equality_multipliers: Array
    status: str


def triangle(size: int) -> tuple[Any, Any]:
    """Row and column numbers of the upper triangle, column by column."""
    columns, rows = np.tril_indices(size)
    return rows, columns


def assemble(program: Program) -> Assembled:
    """Write a program as arrays."""
    from scipy.sparse import csr_array

    vectors = {vector: number for number, vector in enumerate(program.vectors)}
    pairs: dict[tuple[int, int], int] = {}
    entries: list[tuple[int, int, float]] = []
    for row, form in enumerate(program.forms):
        for (u, v), c in form.products.items():
            a, b = vectors[u], vectors[v]
            pair = (a, b) if a <= b else (b, a)
            entries.append((row, pairs.setdefault(pair, len(pairs)), float(c)))
    rows, columns, coefficients = zip(*entries, strict=True)
    on_pairs = csr_array((coefficients, (rows, columns)), shape=(len(program.forms), len(pairs)))
    left, right = np.array(list(pairs)).T
    grams = tuple(
        csr_array(on_pairs @ _products(_coordinates(program, block, size), left, right))
        for block, size in enumerate(program.sizes)
    )
    bounds = [0.0, *(float(constraint.bound) for constraint in (*program.equalities, *program.inequalities))]
    return Assembled(grams, _values(program), np.array(bounds))


def _coordinates(program: Program, block: int, size: int) -> Array:
    found = np.zeros((len(program.vectors), size))
    for number, vector in enumerate(program.vectors):
        for (home, place), c in vector.coordinates.items():
            if home == block:
                found[number, place] = float(c)
    return found


def _products(vectors: Array, left: Any, right: Any) -> Any:
    # <u, v> as a linear function of the Gram matrix's upper triangle.
    from scipy.sparse import csr_array

    i, j = triangle(vectors.shape[1])
    u, v = vectors[left], vectors[right]
    return csr_array((u[:, i] * v[:, j] + u[:, j] * v[:, i]) * np.where(i == j, 0.5, np.sqrt(0.5)))


def _values(program: Program) -> Any:
    from scipy.sparse import csr_array

    numbers = {value: number for number, value in enumerate(program.values)}
    entries = [
        (row, numbers[value], float(c)) for row, form in enumerate(program.forms) for value, c in form.values.items()
    ]
    shape = (len(program.forms), len(numbers))
    if not entries:
        return csr_array(shape)
    rows, columns, coefficients = zip(*entries, strict=True)
    return csr_array((coefficients, (rows, columns)), shape=shape)


def solve(program: Program, *, gram_weight: float = 0.0, tolerance: float = 1e-9) -> Solution:
    """Solve a program approximately.

    Parameters
    ----------
    program
        What to maximize.
    gram_weight
        eps: ``eps tr G`` is added to the objective, so that the dual slack becomes at least ``eps I``.
    tolerance
        Of the solver.

    Raises
    ------
    OracleError
        If the solver ends without a solution; the sentence has the solver's word (a class that is empty is said to be
        infeasible).
    """
    import clarabel
    from scipy.sparse import block_array, csc_array, eye_array

    assembled = assemble(program)
    num_equalities, num_values = len(program.equalities), assembled.values.shape[1]
    triangles = [gram.shape[1] for gram in assembled.grams]
    rows = block_array([[*assembled.grams, assembled.values]], format="csr")
    objective = rows[[0]].toarray().ravel() + gram_weight * _traces(program, num_values)
    cone = eye_array(sum(triangles), sum(triangles) + num_values)
    system = csc_array(block_array([[rows[1:]], [-cone]]))
    cones = [
        clarabel.ZeroConeT(num_equalities),
        clarabel.NonnegativeConeT(len(program.inequalities)),
        *(clarabel.PSDTriangleConeT(size) for size in program.sizes),
    ]
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    right = np.concatenate([assembled.bounds[1:], np.zeros(sum(triangles))])
    quadratic = csc_array((objective.size, objective.size))
    found = clarabel.DefaultSolver(quadratic, -objective, system, right, cones, settings).solve()
    if str(found.status) not in ("Solved", "AlmostSolved", "InsufficientProgress"):
        message = f"the solver must end with a solution, got {found.status}"
        raise OracleError(message)
    return _solution(program, found, num_equalities)


def _traces(program: Program, num_values: int) -> Array:
    ones = [np.equal(*triangle(size)).astype(np.float64) for size in program.sizes]
    return np.concatenate([*ones, np.zeros(num_values)])


def _solution(program: Program, found: Any, num_equalities: int) -> Solution:
    x, z = np.array(found.x), np.array(found.z)
    grams, start = [], 0
    for size in program.sizes:
        i, j = triangle(size)
        gram = np.zeros((size, size))
        gram[i, j] = gram[j, i] = x[start : start + i.size] * np.where(i == j, 1.0, np.sqrt(0.5))
        grams.append(gram)
        start += i.size
    return Solution(
        value=-float(found.obj_val),
        dual_value=-float(found.obj_val_dual),
        grams=tuple(grams),
        values=x[start:],
        multipliers=np.maximum(z[num_equalities : num_equalities + len(program.inequalities)], 0.0),
        equality_multipliers=z[:num_equalities],
        status=str(found.status),
    )
