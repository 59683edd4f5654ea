"""Matrix products of small layers, in blocks whose sums are scalar variables and stay in the processor's registers.

Numba vectorizes the innermost loop, over the columns of both factors. At these sizes that is faster than BLAS.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from fedtheory._support.jit import compiled_with_reordering

# Columns are padded to a multiple of LANES, rows of matrices to a multiple of ROWS, the height of a block.
LANES, ROWS = 8, 5


@compiled_with_reordering
def write_inner_products(table, left, right, numbers, count):
    """Write to table[i, k] the inner product of left[i] and row numbers[k] of ``right``, for k < count.

    The number of rows of ``left`` is a multiple of five. If ``count`` is odd, one more column of ``table`` is written,
    for which ``numbers`` must have an entry.
    """
    for k in range(0, count, 2):
        first, second = numbers[k], numbers[k + 1]
        for i in range(0, left.shape[0], ROWS):
            a0 = a1 = a2 = a3 = a4 = b0 = b1 = b2 = b3 = b4 = 0.0
            for j in range(left.shape[1]):
                x, y = right[first, j], right[second, j]
                a0 += left[i, j] * x
                b0 += left[i, j] * y
                a1 += left[i + 1, j] * x
                b1 += left[i + 1, j] * y
                a2 += left[i + 2, j] * x
                b2 += left[i + 2, j] * y
                a3 += left[i + 3, j] * x
                b3 += left[i + 3, j] * y
                a4 += left[i + 4, j] * x
                b4 += left[i + 4, j] * y
            table[i, k], table[i, k + 1] = a0, b0
            table[i + 1, k], table[i + 1, k + 1] = a1, b1
            table[i + 2, k], table[i + 2, k + 1] = a2, b2
            table[i + 3, k], table[i + 3, k + 1] = a3, b3
            table[i + 4, k], table[i + 4, k + 1] = a4, b4


@compiled_with_reordering
def add_products(total, num_rows, left, right, numbers, count, fresh):
    """Add to row i < num_rows of ``total`` the sum over k < count of left[i, k] times row numbers[k] of ``right``.

    If fresh, the rows of ``total`` start from zero.
    """
    if fresh:
        total[:num_rows] = 0.0
    tall, whole = num_rows - num_rows % ROWS, count - count % 4
    for i in range(0, tall, ROWS):
        for k in range(0, whole, 4):
            _add_block(total, i, left, right, numbers, k)
        for k in range(whole, count):
            for row in range(i, i + ROWS):
                _add_row(total, row, left, right, numbers, k)
    for row in range(tall, num_rows):
        for k in range(count):
            _add_row(total, row, left, right, numbers, k)


@compiled_with_reordering
def _add_block(total, i, left, right, numbers, k):
    """Add four terms to five rows."""
    p, q, r, s = numbers[k], numbers[k + 1], numbers[k + 2], numbers[k + 3]
    a0, a1, a2, a3 = left[i, k], left[i, k + 1], left[i, k + 2], left[i, k + 3]
    b0, b1, b2, b3 = left[i + 1, k], left[i + 1, k + 1], left[i + 1, k + 2], left[i + 1, k + 3]
    c0, c1, c2, c3 = left[i + 2, k], left[i + 2, k + 1], left[i + 2, k + 2], left[i + 2, k + 3]
    d0, d1, d2, d3 = left[i + 3, k], left[i + 3, k + 1], left[i + 3, k + 2], left[i + 3, k + 3]
    e0, e1, e2, e3 = left[i + 4, k], left[i + 4, k + 1], left[i + 4, k + 2], left[i + 4, k + 3]
    for j in range(total.shape[1]):
        x, y, z, w = right[p, j], right[q, j], right[r, j], right[s, j]
        total[i, j] += a0 * x + a1 * y + a2 * z + a3 * w
        total[i + 1, j] += b0 * x + b1 * y + b2 * z + b3 * w
        total[i + 2, j] += c0 * x + c1 * y + c2 * z + c3 * w
        total[i + 3, j] += d0 * x + d1 * y + d2 * z + d3 * w
        total[i + 4, j] += e0 * x + e1 * y + e2 * z + e3 * w


@compiled_with_reordering
def _add_row(total, i, left, right, numbers, k):
    """Add one term to one row."""
    factor, number = left[i, k], numbers[k]
    for j in range(total.shape[1]):
        total[i, j] += factor * right[number, j]
