"""Symmetric matrices of many forms in doubles, as sparse matrices.

A condition on two points has few entries. For a long method, sparse matrices take a small share of the time and memory
of arrays.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from fedtheory._support.validate import Array


@final
class SparseForms:
    """The symmetric matrices of all rows of a program in one block, shape (1 + m, n, n).

    ``rows`` and ``columns`` are the positions in the upper triangle; ``entries`` are the entries of the matrices.
    """

    def __init__(self, shape: tuple[int, int, int], forms: Array, rows: Array, columns: Array, entries: Array) -> None:
        from scipy.sparse import csr_array

        self.shape = shape
        num_forms, size, _ = shape
        # An off-diagonal entry counts twice in a product with a symmetric matrix.
        doubled = entries * np.where(rows == columns, 1.0, 2.0)
        self._entries = csr_array((doubled, (forms, rows * size + columns)), (num_forms, size * size))
        self._transposed = csr_array(self._entries[1:].T)
        both = np.concatenate([forms * size + rows, (forms * size + columns)[rows != columns]])
        across = np.concatenate([columns, rows[rows != columns]])
        self._stacked = csr_array(
            (np.concatenate([entries, entries[rows != columns]]), (both, across)), (num_forms * size, size)
        )

    def __getitem__(self, form: int) -> Array:
        size = self.shape[1]
        found: Array = self._stacked[form * size : (form + 1) * size].toarray()
        return found

    def at(self, G: Array) -> Array:
        found: Array = self._entries @ G.reshape(-1)
        return found

    def combined(self, multipliers: Array) -> Array:
        half: Array = (self._transposed @ multipliers).reshape(self.shape[1:]) * 0.5
        return half + half.T

    def turned(self, T: Array) -> Array:
        """Return the upper triangles of ``T' A_i T`` of all rows, shape (1 + m, n (n + 1) / 2)."""
        num_forms, size, _ = self.shape
        found: Array = np.matmul(T.T, (self._stacked @ T).reshape(num_forms, size, size))
        i, j = np.triu_indices(size)
        return found[:, i, j]

    def seen(self) -> Array:
        """Return a basis of the span of the rows of all matrices, shape (number of rows, n).

        Each of n random combinations of the forms removes one vector on which some form depends and the previous
        combinations do not.
        """
        num_forms, size, _ = self.shape
        weights = np.random.default_rng(0).normal(size=(size, num_forms))
        mixed = (weights @ self._entries).reshape(size, size, size)
        found: Array = (mixed + mixed.swapaxes(1, 2)).reshape(-1, size)
        return found


def at(forms: Any, G: Any) -> Any:
    """Return all forms at a matrix; also for forms as an array."""
    if isinstance(forms, SparseForms):
        return forms.at(G)
    return forms.reshape(forms.shape[0], -1) @ G.reshape(-1)


def combined(forms: Any, multipliers: Any) -> Any:
    """Return the sum of multiplier times matrix over the constraints; also for forms as an array."""
    if isinstance(forms, SparseForms):
        return forms.combined(multipliers)
    row = multipliers.reshape(1, -1)
    return (row @ forms[1:].reshape(row.shape[1], -1)).reshape(*forms.shape[1:])
