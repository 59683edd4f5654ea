"""Methods that multiply by matrices: alternating directions with three blocks, and steps in random order."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from fedtheory.arithmetic.matrices import product
from fedtheory.instances.draws import draw_model
from fedtheory.instances.formatting import format_vectors
from fedtheory.instances.vectors import Vector, combination, norm2, vector
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import pick
from fedtheory.theorem.findings import Finding, at_most, not_applicable
from fedtheory.theorem.paper import FEDTHEORY, Paper, Statement

ADMM = Paper(
    "admm",
    "The direct extension of ADMM for multi-block convex minimization problems is not necessarily convergent",
    "Chen, He, Ye, Yuan",
    2016,
    "https://doi.org/10.1007/s10107-014-0826-5",
    basis="abstract",
)
RESHUFFLING = Paper("reshuffling", "Random Reshuffling is Not Always Better", "De Sa", 2020, basis="abstract")


def _sweep(columns: Sequence[Vector], x: Vector, multiplier: Vector) -> tuple[Vector, Vector]:
    """Minimize ``|sum_i x_i a_i - multiplier|^2`` over each x_i in turn, and subtract the sum from the multiplier."""
    for i, column in enumerate(columns):
        rest = combination(x, columns) - x[i] * column
        x = Vector((*x[:i], column @ (multiplier - rest) / norm2(column), *x[i + 1 :]))
    return x, multiplier - combination(x, columns)


@claim(
    "admm:three-blocks",
    "Alternating directions with three blocks converges on every convex problem",
    Statement(FEDTHEORY, "the open question that it answers", related=(ADMM, "Abstract"), form="derived"),
    "refuted conjecture",
    remark=(
        "minimize 0 if x_1 a_1 + x_2 a_2 + x_3 a_3 = 0: a sweep is a matrix with six eigenvalues, and the trace of its"
        " 64th power would be at most 6 if no eigenvalue exceeded 1"
    ),
)
def three_blocks() -> Finding:
    columns = [vector(1, 1, 1), vector(1, 1, 2), vector(1, 2, 2)]
    units = [Vector(int(i == j) for j in range(6)) for i in range(6)]
    images = [_sweep(columns, Vector(unit[:3]), Vector(unit[3:])) for unit in units]
    sweep = np.array([[*x, *multiplier] for x, multiplier in images], dtype=object)
    power = sweep
    for _ in range(6):
        power = product(power, power)
    return at_most(abs(power.trace()), 6, instance={"columns": "(1, 1, 1), (1, 1, 2), (1, 2, 2)", "power": 64})


@claim(
    "admm:two-blocks",
    "With two blocks, |multiplier|^2 + |x_2 a_2|^2 does not increase in a sweep after the first",
    Statement(FEDTHEORY, "two blocks", related=(ADMM, "Abstract"), form="derived"),
    looseness=1.01,
)
def two_blocks(rng: np.random.Generator) -> Finding:
    columns = [draw_model(rng, 3) for _ in range(2)]
    (a, b, c), (d, e, f) = columns
    normal = Vector((b * f - c * e, c * d - a * f, a * e - b * d))
    known = {"columns": format_vectors(columns)}
    if not all(map(norm2, columns)):
        return not_applicable("a column is 0", **known)
    x, multiplier = _sweep(columns, draw_model(rng, 2), pick(rng, [normal, draw_model(rng, 3)]))
    before = norm2(multiplier) + norm2(x[1] * columns[1])
    known |= {"x": str(x), "multiplier": str(multiplier)}
    x, multiplier = _sweep(columns, x, multiplier)
    return at_most(norm2(multiplier) + norm2(x[1] * columns[1]), before, instance=known)


@claim(
    "reshuffling:matrix-means",
    "The mean product of positive semidefinite matrices over all orders is at most the power of their mean, in norm",
    Statement(
        FEDTHEORY, "the conjecture of Recht and Re that it refutes", related=(RESHUFFLING, "Abstract"), form="derived"
    ),
    "refuted conjecture",
    remark=(
        "five matrices I + (e_0 y' + y e_0') of mean I, y = 10/9 (e_k - mean e); by symmetry all orders have the same"
        " entry (0, 0)"
    ),
)
def matrix_means() -> Finding:
    num_matrices, scale = 5, Fraction(10, 9)
    corner, row = Fraction(1), Vector([0] * num_matrices)
    # The first row of A_1 ... A_k. The eigenvalues of a matrix are 1 and 1 -+ |y|, and |y|^2 = 4/5 scale^2 < 1.
    for k in range(num_matrices):
        y = scale * Vector(int(j == k) - Fraction(1, num_matrices) for j in range(num_matrices))
        corner, row = corner + row @ y, row + corner * y
    return at_most(abs(corner), 1, instance={"matrices": num_matrices, "scale": str(scale)})
