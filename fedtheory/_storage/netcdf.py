"""Labelled data as netCDF, read as the file of somebody who may not mean well."""

import io
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from fedtheory._storage.files import OtherFileError

if TYPE_CHECKING:
    from xarray import Dataset

__all__ = ["netcdf_bytes", "netcdf_content"]

# DEFLATE makes of so many bytes at most one.
_DENSEST = 1032


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


def netcdf_content(content: bytes) -> tuple["Dataset", dict[str, "Dataset"]]:
    """Return the data set of a netCDF file, and those in groups of it; whatever HDF5 raises for another file.

    Raises
    ------
    OtherFileError
        If an array is not in the file as it is: it is elsewhere, or would be blown up when it is read.
    """
    import h5py
    import xarray

    with h5py.File(io.BytesIO(content), "r") as opened:
        groups = [name for name, found in _members(opened) if isinstance(found, h5py.Group)]
    data, *others = (
        xarray.load_dataset(io.BytesIO(content), engine="h5netcdf", group=name) for name in (None, *groups)
    )
    return data, dict(zip(groups, others, strict=True))


def _members(group: Any) -> Iterator[tuple[str, Any]]:
    """Yield the arrays and groups of a group, and refuse what is not its own."""
    import h5py

    for name, found in group.items():
        if not isinstance(group.get(name, getlink=True), h5py.HardLink):
            message = f"in which {name} is not an array of its own"
            raise OtherFileError(message)
        if isinstance(found, h5py.Group):
            list(_members(found))
        elif not _is_dimension(found):
            _refuse_elsewhere(name, found)
        yield name, found


def _is_dimension(found: Any) -> bool:
    # A dimension without labels is there, too, as HDF5 wants it, and xarray does not read it.
    return "not a netCDF variable" in str(found.attrs.get("NAME", ""))


def _refuse_elsewhere(name: str, found: Any) -> None:
    if found.external or found.is_virtual:
        message = f"in which {name} is not an array of its own"
        raise OtherFileError(message)
    if found.size * found.dtype.itemsize > (_DENSEST if found.compression else 1) * found.id.get_storage_size():
        message = f"in which {name} is not an array that is all there"
        raise OtherFileError(message)
