"""Several experiments in one data set: names of variables, dimensions and attributes begin with their experiment's."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

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
    """Return one of the experiments, with its own names."""
    begin = f"{name}_"
    own = data[[variable for variable in data.data_vars if str(variable).startswith(begin)]]
    own = own.drop_attrs()
    names = {old: str(old).removeprefix(begin) for old in {*own.variables, *own.dims}}
    attributes = {
        str(old).removeprefix(begin): value for old, value in data.attrs.items() if str(old).startswith(begin)
    }
    return own.rename(names).assign_attrs(attributes)
