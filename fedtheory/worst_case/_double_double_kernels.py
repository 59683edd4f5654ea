"""Compiled functions for arrays of double doubles; an array is passed as its high parts and its low parts."""

import numpy as np

from fedtheory._support.jit import compiled
from fedtheory._support.validate import Array

__all__ = ["add", "cholesky", "matmul", "orthogonalized", "product", "quotient", "squares", "substituted"]

_SPLITTER = 134217729.0  # multiplication by 2^27 + 1 splits a double into halves whose products are exact


@compiled
def add(a: float, al: float, b: float, bl: float) -> tuple[float, float]:
    """Add two numbers."""
    s = a + b
    t = s - a
    e = (a - (s - t)) + (b - t)
    u = al + bl
    t = u - al
    f = (al - (u - t)) + (bl - t)
    e += u
    h = s + e
    e = e - (h - s)
    e += f
    s = h + e
    return s, e - (s - h)


@compiled
def product(a: float, al: float, b: float, bl: float) -> tuple[float, float]:
    """Multiply two numbers."""
    p = a * b
    t = _SPLITTER * a
    ah = t - (t - a)
    ar = a - ah
    t = _SPLITTER * b
    bh = t - (t - b)
    br = b - bh
    e = ((ah * bh - p) + ah * br + ar * bh) + ar * br
    e += a * bl + al * b
    h = p + e
    return h, e - (h - p)


@compiled
def quotient(a: float, al: float, b: float, bl: float) -> tuple[float, float]:
    """Divide two numbers by a step of Newton's method."""
    q = a / b
    h, low = product(b, bl, q, 0.0)
    h, low = add(a, al, -h, -low)
    e = (h + low) / b
    s = q + e
    return s, e - (s - q)


@compiled
def root(a: float, al: float) -> tuple[float, float]:
    """Take the square root of a positive number by a step of Newton's method."""
    root = np.sqrt(a)
    h, low = product(root, 0.0, root, 0.0)
    h, low = add(a, al, -h, -low)
    e = h / (2 * root)
    s = root + e
    return s, e - (s - root)


@compiled
def matmul(a: Array, al: Array, b: Array, bl: Array) -> tuple[Array, Array]:
    """Multiply two matrices, shapes (m, n) and (n, r)."""
    rows, inner = a.shape
    columns = b.shape[1]
    c, cl = np.zeros((rows, columns)), np.zeros((rows, columns))
    for i in range(rows):
        for k in range(inner):
            if a[i, k] != 0.0:
                for j in range(columns):
                    h, low = product(a[i, k], al[i, k], b[k, j], bl[k, j])
                    c[i, j], cl[i, j] = add(c[i, j], cl[i, j], h, low)
    return c, cl


@compiled
def squares(a: Array, al: Array) -> tuple[Array, Array]:
    """Compute the inner products of rows, shape (m, n) to (m, m)."""
    rows, inner = a.shape
    b, bl = np.ascontiguousarray(a.T), np.ascontiguousarray(al.T)
    c, cl = np.zeros((rows, rows)), np.zeros((rows, rows))
    for i in range(rows):
        for k in range(inner):
            if a[i, k] != 0.0:
                for j in range(i + 1):
                    h, low = product(a[i, k], al[i, k], b[k, j], bl[k, j])
                    c[i, j], cl[i, j] = add(c[i, j], cl[i, j], h, low)
    for i in range(rows):
        for j in range(i):
            c[j, i], cl[j, i] = c[i, j], cl[i, j]
    return c, cl


@compiled
def orthogonalized(rows: Array, rows_low: Array) -> tuple[Array, Array]:
    """Return the triangle of the modified Gram-Schmidt method."""
    size, inner = rows.shape
    a, al = rows.copy(), rows_low.copy()
    t, tl = np.zeros((size, size)), np.zeros((size, size))
    for k in range(size):
        s, sl = 0.0, 0.0
        for i in range(inner):
            h, low = product(a[k, i], al[k, i], a[k, i], al[k, i])
            s, sl = add(s, sl, h, low)
        if not s > 0.0:
            return t, tl
        t[k, k], tl[k, k] = root(s, sl)
        for i in range(inner):
            a[k, i], al[k, i] = quotient(a[k, i], al[k, i], t[k, k], tl[k, k])
        for j in range(k + 1, size):
            s, sl = 0.0, 0.0
            for i in range(inner):
                h, low = product(a[k, i], al[k, i], a[j, i], al[j, i])
                s, sl = add(s, sl, h, low)
            t[j, k], tl[j, k] = s, sl
            for i in range(inner):
                h, low = product(a[k, i], al[k, i], s, sl)
                a[j, i], al[j, i] = add(a[j, i], al[j, i], -h, -low)
    return t, tl


@compiled
def cholesky(matrix: Array, matrix_low: Array) -> tuple[Array, Array, bool]:
    """Compute the lower Cholesky factor, shape (n, n), and whether the matrix is positive definite."""
    size = len(matrix)
    a, al = matrix.copy(), matrix_low.copy()
    for k in range(size):
        for j in range(k + 1, size):
            a[k, j], al[k, j] = 0.0, 0.0
        if not a[k, k] > 0.0:
            return a, al, False
        a[k, k], al[k, k] = root(a[k, k], al[k, k])
        for i in range(k + 1, size):
            a[i, k], al[i, k] = quotient(a[i, k], al[i, k], a[k, k], al[k, k])
        for i in range(k + 1, size):
            for j in range(k + 1, i + 1):
                h, low = product(a[i, k], al[i, k], a[j, k], al[j, k])
                a[i, j], al[i, j] = add(a[i, j], al[i, j], -h, -low)
    return a, al, True


@compiled
def substituted(a: Array, al: Array, right: Array, right_low: Array) -> tuple[Array, Array]:
    """Solve ``a x = right`` by substitution for a lower triangle, shapes (n, n) and (n, r)."""
    size, columns = right.shape
    x, xl = right.copy(), right_low.copy()
    for k in range(size):
        for j in range(columns):
            x[k, j], xl[k, j] = quotient(x[k, j], xl[k, j], a[k, k], al[k, k])
        for i in range(k + 1, size):
            for j in range(columns):
                h, low = product(a[i, k], al[i, k], x[k, j], xl[k, j])
                x[i, j], xl[i, j] = add(x[i, j], xl[i, j], -h, -low)
    return x, xl
