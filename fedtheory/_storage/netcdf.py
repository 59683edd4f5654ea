"""Labelled data as netCDF, read as the file of somebody who may not mean well."""

import io
from collections import deque
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fedtheory._storage.files import OtherFileError

if TYPE_CHECKING:
    from xarray import Dataset

__all__ = ["Arrays", "netcdf_arrays", "netcdf_bytes", "netcdf_data"]

# DEFLATE makes of so many bytes at most one.
_DENSEST = 1032


class Arrays(NamedTuple):
    """What a netCDF file or a group of one holds, as it is written there."""

    attrs: dict[str, Any]
    arrays: dict[str, Any]
    groups: dict[str, "Arrays"]


def netcdf_bytes(
    data: Any, groups: Mapping[str, Any] | None = None, encoding: Mapping[str, Any] | None = None
) -> bytes:
    """Return a data set as netCDF in the encoding of xarray, with others in groups of it.

    The file is made in memory: on a full disk the HDF5 library does not complain, it ends the process.
    """
    content = io.BytesIO()
    data.to_netcdf(content, engine="h5netcdf", encoding=encoding)
    for name, more in (groups or {}).items():
        more.to_netcdf(content, engine="h5netcdf", mode="a", group=name)
    return content.getvalue()


def netcdf_data(content: bytes) -> "Dataset":
    """Return the data set of a netCDF file; whatever HDF5 raises for another file.

    Raises
    ------
    OtherFileError
        If an array is not in the file as it is: it is elsewhere, or would be blown up when it is read.
    """
    import h5py
    import xarray

    with h5py.File(io.BytesIO(content), "r") as opened:
        deque(_members(opened), maxlen=0)  # all are looked at before any is read
    return xarray.load_dataset(io.BytesIO(content), engine="h5netcdf")


def netcdf_arrays(content: bytes) -> Arrays:
    """Return the arrays of a netCDF file, where `netcdf_data` would take ten times as long to label them."""
    import h5py

    with h5py.File(io.BytesIO(content), "r") as opened:
        return _arrays(opened)


def _arrays(group: Any) -> Arrays:
    import h5py

    members = dict(_members(group))
    groups = {name: _arrays(found) for name, found in members.items() if isinstance(found, h5py.Group)}
    arrays = {name: _values(found) for name, found in members.items() if name not in groups}
    return Arrays(dict(group.attrs), arrays, groups)


def _values(found: Any) -> Any:
    values = found.asstr()[()] if found.dtype.kind == "O" else found[()]
    # xarray writes truth values as bytes, and says so.
    return values.astype(np.bool_) if found.attrs.get("dtype") == "bool" else values


def _members(group: Any) -> Iterator[tuple[str, Any]]:
    """Yield the arrays and groups of a group, and refuse what is not its own."""
    import h5py

    for name, found in group.items():
        if not isinstance(group.get(name, getlink=True), h5py.HardLink):
            message = f"in which {name} is not an array of its own"
            raise OtherFileError(message)
        # A dimension without labels is there, too, as HDF5 wants it.
        if "not a netCDF variable" not in str(found.attrs.get("NAME", "")):
            if isinstance(found, h5py.Dataset):
                _refuse_elsewhere(name, found)
            yield name, found


def _refuse_elsewhere(name: str, found: Any) -> None:
    if found.external or found.is_virtual:
        message = f"in which {name} is not an array of its own"
        raise OtherFileError(message)
    if found.size * found.dtype.itemsize > (_DENSEST if found.compression else 1) * found.id.get_storage_size():
        message = f"in which {name} is not an array that is all there"
        raise OtherFileError(message)
