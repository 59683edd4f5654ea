"""Matrix products of integers are exact for all shapes, tiles and strides."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.engine._products import LANES, ROWS, VECTORS, add_products, write_inner_products

# Shapes on both sides of every edge of a tile: ROWS rows by VECTORS vectors, single rows, single vectors.
shapes = st.tuples(st.integers(0, 2 * ROWS + 2), st.integers(0, 9), st.integers(1, 2 * VECTORS + 2))


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


@pytest.mark.parametrize("fresh", [False, True])
def test_the_plain_twin_says_the_same(fresh):
    twin = getattr(add_products, "py_func", add_products)
    np.testing.assert_array_equal(*_added(twin, (ROWS + 2, 7, VECTORS + 2), fresh, transposed=False))


def test_terms_are_added_in_their_order():
    # 2^53 + 1 is 2^53, so that ones that come first count and ones that come last do not.
    for terms, wanted in (([1.0, 1.0, 2.0**53], 2.0**53 + 2), ([2.0**53, 1.0, 1.0], 2.0**53)):
        total = np.zeros((1, LANES))
        add_products(total, 1, np.array([terms]), np.ones((3, LANES)), np.arange(3), 3, True)
        assert (total == wanted).all()


def _written(write, tiles, count, vectors):
    rng = np.random.default_rng(tiles)
    left = rng.integers(-99, 99, size=(tiles * ROWS, vectors * LANES)).astype(float)
    right, numbers = rng.integers(-99, 99, size=(12, vectors * LANES)).astype(float), rng.integers(12, size=16)
    table = np.full((tiles * ROWS + 1, 16), np.pi)
    write(table, left, right, numbers, count)
    filled = -(-count // VECTORS) * VECTORS
    wanted = np.full_like(table, np.pi)
    wanted[:-1, :filled] = left @ right[numbers[:filled]].T
    return table, wanted


@given(st.integers(1, 3), st.integers(0, 16), st.integers(1, 4))
def test_inner_products_are_exact_on_whole_numbers_and_nothing_beyond_their_tiles_is_written(tiles, count, vectors):
    np.testing.assert_array_equal(*_written(write_inner_products, tiles, count, vectors))


def test_the_plain_twin_says_the_same_of_inner_products():
    twin = getattr(write_inner_products, "py_func", write_inner_products)
    np.testing.assert_array_equal(*_written(twin, 2, 9, 3))
