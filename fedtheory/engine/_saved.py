"""The file of a run: its data set, in a group of their own the recipe with its arrays, and a seal."""

import io
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from fedtheory._storage.files import Writer, bytes_writer, netcdf_bytes, read_bytes, sealed, unsealed
from fedtheory._support.wording import plain
from fedtheory.engine._recipes import Recipe, arrays_of
from fedtheory.engine.contract import RECORDS
from fedtheory.errors import UnsealedWarning

__all__ = ["read", "writer"]

_GROUP, _NEEDED = "recipe", ("round", "counts", "diverged_at", "config")
# Files of this form have a seal; those before had no form.
_FORM = "fedtheory run 2"


def writer(run: Any, *, federation: bool) -> Writer:
    """Return what writes a trajectory, with or without its federation."""
    import xarray as xr

    data, groups = run.to_xarray().assign_attrs(form=_FORM), {}
    if run.recipe is not None:
        recipe = (run.recipe if federation else run.recipe.without("fed")).by_content
        about = {"form": recipe.form, "made_by": recipe.surroundings}
        arrays = {name: ([f"{name}_{axis}" for axis in range(a.ndim)], a) for name, a in recipe.arrays.items()}
        groups = {_GROUP: xr.Dataset(arrays, attrs={"about": json.dumps(about)})}
    return bytes_writer(sealed(netcdf_bytes(data, groups)))


class _OtherFileError(ValueError):
    """Why a file is none of a run."""


def read(path: Path) -> dict[str, Any]:
    """Return the fields of the trajectory in a file.

    Raises
    ------
    FileNotFoundError
        If there is none.
    ValueError
        If something is missing in it, it cannot be read at all, or is not what was sealed.
    """
    import h5py

    if not path.exists():
        message = f"path must be the file of a run, got {path}, which does not exist"
        raise FileNotFoundError(message)
    try:
        content = read_bytes(path)
        whole = _unsealed(content)
        with h5py.File(io.BytesIO(content if whole is None else whole), "r") as opened:
            form = opened.attrs.get("form")
            _refuse_other_form(form, is_sealed=whole is not None)
            fields = _fields(opened)
    except Exception as error:  # whatever HDF5, JSON and Python say of bytes that somebody else may have made
        said = (
            str(error)
            if isinstance(error, _OtherFileError)
            else f"which cannot be read: {' '.join(str(error).split())}"
        )
        message = f"path must be the file of a run, got {path}, {plain(said)}"
        raise ValueError(message) from error
    if whole is None:
        text = f"{path} was written before runs were sealed: damage and edits cannot be told (save it again)"
        warnings.warn(text, UnsealedWarning, stacklevel=3)
    return fields


def _unsealed(content: bytes) -> bytes | None:
    try:
        return unsealed(content)
    except ValueError as error:
        message = "which is not what was written: it was damaged or edited"
        raise _OtherFileError(message) from error


def _refuse_other_form(form: Any, *, is_sealed: bool) -> None:
    if form is None and not is_sealed:
        return
    if form != _FORM:
        message = f"whose form is {form}, and not {_FORM}"
        raise _OtherFileError(message)
    if not is_sealed:
        message = "which has lost its seal: it was damaged or edited"
        raise _OtherFileError(message)


def _fields(opened: Any) -> dict[str, Any]:
    for name in _NEEDED:
        if not _is_there(opened, name):
            message = f"in which {name} is missing"
            raise _OtherFileError(message)
    rounds, counts, diverged_at = (_array(opened, name, "i") for name in _NEEDED[:3])
    records = {name: _array(opened, name, "if") for name in RECORDS if _is_there(opened, name)}
    shape = (*counts.shape[:1], *rounds.shape)
    fitting = [
        values.shape[:2] == shape and values.ndim == 2 + len(RECORDS[name].shape) for name, values in records.items()
    ]
    if (rounds.ndim, counts.ndim, diverged_at.shape) != (1, 2, counts.shape[:1]) or not all((*fitting, *shape)):
        message = "whose records are of different sizes"
        raise _OtherFileError(message)
    config = json.loads(_text(opened, "config"))
    return {
        "rounds": rounds, "records": records, "counts": counts, "diverged_at": diverged_at,
        "config": {str(name): value for name, value in config.items()}, "recipe": _recipe(opened),
    }  # fmt: skip


def _recipe(opened: Any) -> Recipe | None:
    if _GROUP not in opened:
        return None
    group = opened[_GROUP]
    about = json.loads(group.attrs["about"])
    form, made_by = about["form"], about["made_by"]
    if not (isinstance(form, dict) and isinstance(made_by, dict) and all(isinstance(v, str) for v in made_by.values())):
        message = "whose recipe is not the one that was written"
        raise _OtherFileError(message)
    recipe = Recipe(form, {name: _array(group, name, "biuf") for name in arrays_of(form)}, made_by)
    if set(recipe.by_content.arrays) != set(recipe.arrays):
        message = "whose recipe is not the one that was written"
        raise _OtherFileError(message)
    return recipe


def _is_there(group: Any, name: str) -> bool:
    # A dimension without labels is there, too, as HDF5 wants it.
    return name in group and "not a netCDF variable" not in str(group[name].attrs.get("NAME", ""))


def _array(group: Any, name: str, kinds: str) -> Any:
    """Return an array of numbers that is in the file as it is: not elsewhere, and not blown up when it is read."""
    found = _itself(group, name)
    if found.dtype.kind not in kinds or found.size * found.dtype.itemsize > found.id.get_storage_size():
        message = f"in which {name} is not an array of numbers that are all there"
        raise _OtherFileError(message)
    values = np.asarray(found[()])
    # xarray writes truth values as bytes, and says so.
    return values.astype(np.bool_) if found.attrs.get("dtype") == "bool" else values


def _text(group: Any, name: str) -> str:
    found = _itself(group, name)
    if found.shape:
        message = f"in which {name} is not one text"
        raise _OtherFileError(message)
    return str(found.asstr()[()])


def _itself(group: Any, name: str) -> Any:
    import h5py

    found, link = group[name], group.get(name, getlink=True)
    if not (isinstance(found, h5py.Dataset) and isinstance(link, h5py.HardLink)) or found.external or found.is_virtual:
        message = f"in which {name} is not an array of its own"
        raise _OtherFileError(message)
    return found
