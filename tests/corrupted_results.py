"""What the checks of a study say of results that somebody has corrupted: which numbers each of them is about.

A check that holds whatever the numbers are shows nothing. Each number or slice is made far larger than all others, or
far smaller, and each check must fail at those it looks at.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from fedtheory import study
from fedtheory.study._results import Result

FAR = 1000.0  # times the largest number of its kind
MOST_PLACES = 6  # of a dimension without names, all are corrupted; of a longer one the first and the last


def failing_when_corrupted(found: study.Study, read: Result) -> dict[str, list[str]]:
    """Return by check under which corruptions it fails; one of which the checks cannot speak is left out."""
    found_by: dict[str, list[str]] = {claim: [] for claim in read.checks}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, data in corrupted(read.data):
            try:
                checks = found.checks(data)
            except (ArithmeticError, LookupError, ValueError):
                continue
            for claim, check in checks.items():
                found_by[claim] += [] if check.holds else [name]
    return found_by


def corrupted(data: Any) -> Iterator[tuple[str, Any]]:
    """Yield copies of a data set in which something is far too large, far too small, or missing."""
    for name, value in data.attrs.items():
        if isinstance(value, int | float):
            yield f"{name} +", data.assign_attrs({name: FAR * (1 + abs(value))})
    for name, variable in data.data_vars.items():
        values = variable.values
        if values.dtype.kind in "iuf" and values.size:
            size = FAR * (1 + float(abs(values[np.isfinite(values)]).max(initial=0.0)))
            for place, where in _places(data, variable):
                for sign in "-+":
                    changed = values.copy()
                    changed[where] = size if sign == "+" else -size
                    yield f"{name} {place} {sign}", data.assign({name: (variable.dims, changed)})
            missing = np.full(values.shape, np.nan)
            yield f"{name} missing", data.assign({name: (variable.dims, missing)})


def _places(data: Any, variable: Any) -> Iterator[tuple[str, Any]]:
    """Yield the last entry, slices across every dimension, and everything."""
    yield "at the end", np.unravel_index(variable.size - 1, variable.shape)
    for axis, (dim, length) in enumerate(variable.sizes.items()):
        names = data[dim].values.tolist() if dim in data.coords else list(range(length))
        few = length <= MOST_PLACES or isinstance(names[0], str)
        for place in range(length) if few else (0, length - 1):
            named = names[place] if isinstance(names[place], str) else f"{names[place]:.4g}"
            yield f"at {dim} {named}", (*[slice(None)] * axis, place)
    yield "everywhere", ...
