"""Symmetric matrices as rows of numbers, in the order that solvers want."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fedtheory._validate import Array

__all__ = ["packed", "triangle", "unpacked"]


def packed(matrices: Sequence[Array]) -> Array:
    """Write symmetric matrices as rows of their entries, so that inner products stay inner products.

    Parameters
    ----------
    matrices
        One per block, shapes (..., n, n).

    Returns
    -------
    Array
        Upper triangles column by column, block by block, off-diagonal entries times sqrt(2); shape (..., entries).

    Examples
    --------
    >>> packed([np.array([[2.0, 3.0], [3.0, 5.0]])]).round(3)
    array([2.   , 4.243, 5.   ])
    """
    parts = []
    for matrix in matrices:
        i, j = triangle(matrix.shape[-1])
        parts.append(matrix[..., i, j] * np.where(i == j, 1.0, np.sqrt(2)))
    return np.concatenate(parts, axis=-1)


def unpacked(sizes: Sequence[int], rows: Array) -> list[Array]:
    """Read symmetric matrices back from rows of their entries.

    Parameters
    ----------
    sizes
        Of the blocks.
    rows
        Entries as ``packed`` writes them; more columns may follow; shape (..., entries).

    Returns
    -------
    list of Array
        One per block, shapes (..., n, n).

    Examples
    --------
    >>> unpacked([2], packed([np.array([[2.0, 3.0], [3.0, 5.0]])]))[0].round(3)
    array([[2., 3.],
           [3., 5.]])
    """
    found, start = [], 0
    for size in sizes:
        i, j = triangle(size)
        matrix = np.zeros((*rows.shape[:-1], size, size))
        entries = rows[..., start : start + i.size] * np.where(i == j, 1.0, np.sqrt(0.5))
        matrix[..., i, j] = matrix[..., j, i] = entries
        found.append(matrix)
        start += i.size
    return found


def triangle(size: int) -> tuple[Any, Any]:
    """Row and column numbers of the upper triangle, column by column.

    Parameters
    ----------
    size
        Of the matrix.

    Returns
    -------
    tuple of Array
        Two arrays of shape (size (size + 1)/2,).
    """
    columns, rows = np.tril_indices(size)
    return rows, columns
