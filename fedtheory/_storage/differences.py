"""Differences between two data sets: which arrays differ, and by how much."""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["data_differences"]


def unlike(then: Any, now: Any) -> npt.NDArray[np.bool_]:
    """Return where two arrays of one shape differ; two NaN are equal."""
    different = np.asarray(then != now)
    if then.dtype.kind == now.dtype.kind == "f":
        different &= ~(np.isnan(then) & np.isnan(now))
    return different


def difference(name: str, then: Any, now: Any) -> str:
    """Describe how two arrays differ; empty if they are equal."""
    if then.shape != now.shape:
        return f"{name} had the shape {then.shape}, has {now.shape}"
    other = unlike(then, now)
    if not other.any():
        return ""
    if then.dtype.kind not in "iuf" or now.dtype.kind not in "iuf":
        return f"{name} differs in {other.sum()} of {other.size} entries"
    pair = np.asarray(then[other], dtype=np.float64), np.asarray(now[other], dtype=np.float64)
    largest = float(np.max(np.abs(pair[0] - pair[1]) / np.maximum(np.abs(pair[0]), np.abs(pair[1]))))
    return f"{name} differs, by at most {largest:.1e} of its size"


def data_differences(then: Any, now: Any) -> list[str]:
    """Describe the variables in which two data sets differ.

    >>> import xarray
    >>> one, other = (xarray.Dataset({"gap": ("round", [1.0, end])}) for end in (2.0, 2.5))
    >>> data_differences(one, other)
    ['gap differs, by at most 2.0e-01 of its size']
    >>> data_differences(one, xarray.Dataset())
    ['gap is in one of them only']
    """
    found = [
        f"{name} is in one of them only" for name in sorted({*map(str, then.variables)} ^ {*map(str, now.variables)})
    ]
    for name in then.variables:
        if name in now.variables:
            found.append(difference(str(name), _values(then[name]), _values(now[name])))
    return list(filter(None, found))


def _values(variable: Any) -> Any:
    # Text is read as an array of objects.
    values = np.asarray(variable.values)
    return values.astype(str) if values.dtype.kind in "OSU" else values
