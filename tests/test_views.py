"""Views of arrays equal slices of the same entries in compiled code."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from fedtheory._support.views import matrix, part


@njit
def _compiled(array, begin, size):
    return part(array, begin, size).copy()


@njit
def _doubled(array, begin, size):
    view = part(array, begin, size)
    view *= 2
    return view.size


@pytest.mark.parametrize("shape", [(7,), (7, 3)])
@given(st.integers(0, 7), st.data())
def test_a_part_is_the_slice_of_the_same_entries(shape, begin, data):
    array, size = np.arange(float(np.prod(shape))).reshape(shape), data.draw(st.integers(0, 7 - begin))
    np.testing.assert_array_equal(_compiled(array, begin, size), array[begin : begin + size])
    np.testing.assert_array_equal(_compiled.py_func(array, begin, size), array[begin : begin + size])


def test_a_part_is_a_view_of_its_rows_and_knows_their_number_of_entries():
    array = np.arange(15).reshape(5, 3)
    assert _doubled(array, 1, 2) == 6
    np.testing.assert_array_equal(array.sum(axis=1), [3, 24, 42, 30, 39])


@njit
def _shown(flat, begin, num_rows, num_columns):
    view = matrix(flat, begin, num_rows, num_columns)
    view[0, 0] = -1
    return view.copy(), view.size, view[1:].sum()


def test_a_matrix_is_a_view_of_the_entries_row_by_row():
    flat = np.arange(14)
    view, size, rest = _shown(flat, 3, 2, 5)
    np.testing.assert_array_equal(view, [[-1, 4, 5, 6, 7], [8, 9, 10, 11, 12]])
    assert (size, rest, flat[3]) == (10, 50, -1)
    np.testing.assert_array_equal(matrix(flat, 3, 2, 5), view)
