"""One labelled array over the grid for every name that the configurations found something of."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fedtheory.sweeps._grid import Configuration, Grid
from fedtheory.sweeps._outcomes import Outcome, Variable

if TYPE_CHECKING:
    from xarray import Dataset

__all__ = ["FAILED", "assembled"]

FAILED = "failed"
Found = Mapping[str, Variable]


def assembled(grid: Grid, outcomes: Mapping[str, Outcome]) -> "Dataset":
    """Put what the configurations found into one Dataset with the dimensions of the grid first.

    Examples
    --------
    >>> from fedtheory.sweeps._grid import gridded
    >>> from fedtheory.sweeps._outcomes import variables_of
    >>> grid = gridded({"d": [3, 5]})
    >>> assembled(grid, {one.name: Outcome(variables_of(2.0 * one.point["d"])) for one in grid})["value"].values
    array([ 6., 10.])
    """
    import xarray

    here = [(one, outcomes.get(one.name, Outcome(error="missing"))) for one in grid]
    found = [(one, _renamed(outcome.variables, {*grid.dims, FAILED})) for one, outcome in here]
    labels = _labels([variables for _, variables in found])
    names = dict.fromkeys(name for _, variables in found for name in variables if name not in labels)
    failed = np.array([outcome.failed for _, outcome in here]).reshape(grid.shape)
    values = {name: _spread(name, grid, found, labels) for name in names}
    inner = {dim for dims, _ in values.values() for dim in dims}
    coordinates = {dim: list(known) for dim, known in labels.items() if dim in inner and _is_labelled(dim, found)}
    return xarray.Dataset({**values, FAILED: (grid.dims, failed)}, coords={**grid.labels, **coordinates})


def _renamed(variables: Found, taken: set[str]) -> dict[str, Variable]:
    def free(name: str) -> str:
        return f"{name}_" if name in taken else name

    return {free(name): Variable(tuple(map(free, dims)), values) for name, (dims, values) in variables.items()}


def _labels(results: list[dict[str, Variable]]) -> dict[str, dict[Any, int]]:
    """Return what stands along each inner dimension in any of the results, with its place."""
    found: dict[str, dict[Any, int]] = {}
    for variables in results:
        for dims, values in variables.values():
            for axis, dim in enumerate(dims):
                known = found.setdefault(dim, {})
                for label in _along(dim, variables, values.shape[axis]):
                    known.setdefault(label, len(known))
    return found


def _along(dim: str, variables: Found, length: int) -> list[Any]:
    labels: list[Any] = variables[dim].values.tolist() if dim in variables else list(range(length))
    return labels


def _is_labelled(dim: str, found: list[tuple[Configuration, dict[str, Variable]]]) -> bool:
    return any(dim in variables for _, variables in found)


def _spread(
    name: str, grid: Grid, found: list[tuple[Configuration, dict[str, Variable]]], labels: dict[str, dict[Any, int]]
) -> tuple[tuple[str, ...], npt.NDArray[Any]]:
    """Put one variable of all results where it belongs in one array."""
    with_it = [(one.place, variables) for one, variables in found if name in variables]
    dims = with_it[0][1][name].dims
    for _, variables in with_it:
        if variables[name].dims != dims:
            message = f"{name} must have the same dimensions everywhere, got {dims} and {variables[name].dims}"
            raise ValueError(message)
    shape = (*grid.shape, *(len(labels[dim]) for dim in dims))
    kind = np.result_type(*{variables[name].values.dtype for _, variables in with_it})
    held = np.zeros(shape, dtype=np.bool_)
    whole = np.zeros(shape, dtype=kind)
    for place, variables in with_it:
        values = variables[name].values
        rows = [
            [labels[dim][label] for label in _along(dim, variables, n)]
            for dim, n in zip(dims, values.shape, strict=True)
        ]
        inner = np.ix_(*rows) if rows else ()
        at: Any = (*place, ...)
        whole[at][inner] = values
        held[at][inner] = True
    return (*grid.dims, *dims), whole if held.all() else _blanked(whole, held)


def _blanked(whole: npt.NDArray[Any], held: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
    """Say where there is no value: by NaN, or by an empty word."""
    if whole.dtype.kind == "U":
        return whole
    return np.where(held, whole, np.nan)
