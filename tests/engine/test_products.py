"""Matrix products of integers are exact for all shapes, blocks and strides."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.engine._products import LANES, ROWS, add_products, write_inner_products

# Shapes on both sides of every edge of a block: ROWS rows and four terms, single rows, single terms.
shapes = st.tuples(st.integers(0, 2 * ROWS + 2), st.integers(0, 9), st.integers(1, 6))


def _added(add, shape, fresh, transposed, seed=0):
    num_rows, count, vectors = shape
    rng = np.random.default_rng(seed)
    total = rng.integers(-99, 99, size=(num_rows + 2, (vectors + 1) * LANES)).astype(float)
    left = rng.integers(-99, 99, size=(num_rows + 1, count + 1)).astype(float)
    right = rng.integers(-99, 99, size=(12, vectors * LANES)).astype(float)
    numbers = rng.integers(12, size=count + 1)
    if fresh:
        total[:num_rows, : vectors * LANES] = np.nan
    wanted = total.copy()
    products = left[:num_rows, :count] @ right[numbers[:count]]
    wanted[:num_rows, : vectors * LANES] = products if fresh else total[:num_rows, : vectors * LANES] + products
    if transposed:
        left = np.ascontiguousarray(left.T).T
    add(total[:, : vectors * LANES], num_rows, left, right, numbers, count, fresh)
    return total, wanted


@given(shapes, st.booleans(), st.booleans())
def test_sums_are_exact_on_whole_numbers_and_nothing_else_is_written(shape, fresh, transposed):
    np.testing.assert_array_equal(*_added(add_products, shape, fresh, transposed))


def _written(write, blocks, count, vectors):
    rng = np.random.default_rng(blocks)
    left = rng.integers(-99, 99, size=(blocks * ROWS, vectors * LANES)).astype(float)
    right, numbers = rng.integers(-99, 99, size=(12, vectors * LANES)).astype(float), rng.integers(12, size=16)
    table = np.full((blocks * ROWS + 1, 16), np.pi)
    write(table, left, right, numbers, count)
    filled = count + count % 2
    wanted = np.full_like(table, np.pi)
    wanted[:-1, :filled] = left @ right[numbers[:filled]].T
    return table, wanted


@given(st.integers(1, 3), st.integers(0, 16), st.integers(1, 4))
def test_inner_products_are_exact_on_whole_numbers_and_nothing_beyond_their_blocks_is_written(blocks, count, vectors):
    np.testing.assert_array_equal(*_written(write_inner_products, blocks, count, vectors))
