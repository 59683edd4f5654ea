r"""One-dimensional sums of wells, ``psi(x) = sum_i a_i phi(x - c_i)`` with ``phi(t) = t^2 / (1 + t^2)``."""

import numpy as np

from fedtheory._support.validate import Array

__all__ = ["LARGEST_SLOPE2", "lowest_point", "phi", "slope"]

LARGEST_SLOPE2 = 27 / 64
"""Largest value of ``phi'(t)^2``, taken at ``t^2 = 1/3``."""

_FIRST_CELLS = 64
_HALVINGS = 60


def phi(t: Array) -> Array:
    """``t^2 / (1 + t^2)``.

    >>> phi(np.array([0.0, 1.0, -3.0, 1e200]))
    array([0. , 0.5, 0.9, 1. ])
    """
    near = np.abs(t) < 1e100
    square = np.where(near, t, 0.0) ** 2
    return np.where(near, square / (1 + square), 1.0)


def slope(t: Array) -> Array:
    """``phi'(t) = 2 t / (1 + t^2)^2``.

    >>> slope(np.array([0.0, 1.0, -3.0, 1e200]))
    array([ 0.  ,  0.5 , -0.06,  0.  ])
    """
    near = np.abs(t) < 1e100
    t = np.where(near, t, 0.0)
    result: Array = 2 * t / (1 + t**2) ** 2
    return result


def _curvature(t: Array) -> Array:
    result: Array = (2 - 6 * t**2) / (1 + t**2) ** 3
    return result


def lowest_point(amplitudes: Array, centers: Array) -> tuple[float, float]:
    """Global minimizer and minimum of psi, the latter to a few units of rounding of ``sum_i a_i``.

    Outside the hull of the centers psi falls towards it. Inside, ``phi'' >= -1/2`` bounds psi from below on a cell of
    half-width h around m by ``psi(m) - |psi'(m)| h - sum_i a_i h^2 / 4``; cells that lie above the best value are
    dropped and the others halved, until the bound meets the best value.

    >>> x, value = lowest_point(np.array([1.0, 1.0]), np.array([-0.5, 0.5]))
    >>> abs(x) < 1e-12, round(value, 12)  # two wells so near make one: 2 phi(1/2)
    (True, 0.4)
    """
    total = float(amplitudes.sum())
    low, high = float(centers.min()), float(centers.max())
    half = (high - low) / (2 * _FIRST_CELLS)
    cells = low + half * (2 * np.arange(_FIRST_CELLS, dtype=np.float64) + 1)
    # Every center is a candidate, too: a lone deep well may be narrower than the first cells.
    best = _best(amplitudes, centers, centers)
    for _ in range(_HALVINGS):
        offsets = cells[:, None] - centers
        values, slopes = phi(offsets) @ amplitudes, slope(offsets) @ amplitudes
        best = min(best, _best(amplitudes, centers, cells), key=lambda point: point[1])
        bounds = values - np.abs(slopes) * half - total * half**2 / 4
        cells = cells[bounds < best[1] - 4 * np.finfo(np.float64).eps * total]
        if not cells.size:
            break
        half /= 2
        cells = np.concatenate([cells - half, cells + half])
    return best


def _best(amplitudes: Array, centers: Array, points: Array) -> tuple[float, float]:
    """Return the lowest of some points and psi there, after a few steps of Newton's method downhill."""
    x = points[np.argmin(phi(points[:, None] - centers) @ amplitudes)]
    value = float(phi(x - centers) @ amplitudes)
    for _ in range(4):
        curvature = float(_curvature(x - centers) @ amplitudes)
        moved = x - float(slope(x - centers) @ amplitudes) / curvature if curvature > 0 else x
        below = float(phi(moved - centers) @ amplitudes)
        if below > value:
            break
        x, value = moved, below
    return float(x), value
