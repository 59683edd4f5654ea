"""Several experiments in one data set, and a folder that stores long runs."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import fedtheory as ft

if TYPE_CHECKING:
    from xarray import Dataset


def joined(parts: "Mapping[str, Dataset]") -> "Dataset":
    """Return one data set that holds all experiments."""
    import xarray

    renamed = [
        data.drop_attrs().rename({name: f"{part}_{name}" for name in {*data.variables, *data.dims}})
        for part, data in parts.items()
    ]
    attributes = {f"{part}_{name}": value for part, data in parts.items() for name, value in data.attrs.items()}
    return xarray.merge(renamed).assign_attrs(attributes)


def part(data: "Dataset", name: str) -> "Dataset":
    """Return one of the experiments, with its original names."""
    begin = f"{name}_"
    own = data[[variable for variable in data.data_vars if str(variable).startswith(begin)]]
    own = own.drop_attrs(deep=False)
    names = {old: str(old).removeprefix(begin) for old in {*own.variables, *own.dims}}
    attributes = {
        str(old).removeprefix(begin): value for old, value in data.attrs.items() if str(old).startswith(begin)
    }
    return own.rename(names).assign_attrs(attributes)


def kept(folder: str | None, name: str, function: "Callable[..., Dataset]", seed: int, **arguments: Any) -> "Dataset":
    """Return the result of a function, read from a folder if the same call has been completed before."""
    if folder is None:
        return function(seed=seed, **arguments)
    grid = {argument: [value] for argument, value in arguments.items()}
    found = ft.sweep(function, grid, seeds=[seed], backend="sequential", out=f"{folder}/{name}/{seed}")
    if found.failures:
        message = f"{folder}/{name}/{seed} must hold a run that ended, got {found.failures[0].error}"
        raise ValueError(message)
    return found.data.squeeze(drop=True)
