"""Detection of corrupted results by the checks of a study.

A check that holds for all data verifies nothing. Each number or slice is made much larger than all others, or much
smaller, or removed, until every check has failed for some corruption.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from fedtheory import study
from fedtheory.study._results import Result

FAR = 1000.0  # times the largest number of its kind
MOST_PLACES = 6  # of a dimension without names, all are corrupted; of a longer one the first and the last


def never_failing_when_corrupted(found: study.Study, read: Result) -> set[str]:
    """Return the checks that fail under no corruption; one of which the checks cannot speak is left out."""
    holding = set(read.checks)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for data in corrupted(read.data):
            if not holding:
                break
            try:
                checks = found.checks(data)
            except (ArithmeticError, LookupError, ValueError):
                continue
            holding = {claim for claim in holding if claim not in checks or checks[claim].holds}
    return holding


def corrupted(data: Any) -> Iterator[Any]:
    """Yield copies of a data set in which something is missing, far too large, or far too small."""
    numbers = {name: one for name, one in data.data_vars.items() if one.dtype.kind in "iuf" and one.size}
    for name, variable in numbers.items():  # first, since most checks fail then
        yield data.assign({name: (variable.dims, np.full(variable.shape, np.nan))})
    for name, value in data.attrs.items():
        if isinstance(value, int | float):
            yield data.assign_attrs({name: FAR * (1 + abs(value))})
    for name, variable in numbers.items():
        values = variable.values
        size = FAR * (1 + float(abs(values[np.isfinite(values)]).max(initial=0.0)))
        for where in _places(data, variable):
            for number in (-size, size):
                changed = values.copy()
                changed[where] = number
                yield data.assign({name: (variable.dims, changed)})


def _places(data: Any, variable: Any) -> Iterator[Any]:
    """Yield the place of the last entry, of slices across every dimension, and of everything."""
    yield np.unravel_index(variable.size - 1, variable.shape)
    for axis, (dim, length) in enumerate(variable.sizes.items()):
        is_named = dim in data.coords and isinstance(data[dim].values.tolist()[0], str)
        for place in range(length) if is_named or length <= MOST_PLACES else (0, length - 1):
            yield (*[slice(None)] * axis, place)
    yield ...
