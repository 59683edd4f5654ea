"""The file of a run: its data set, in a group of their own the recipe with its arrays, and a seal."""

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory._storage.files import OtherFileError, read_bytes, sealed, unsealed
from fedtheory._storage.netcdf import Arrays, netcdf_arrays, netcdf_bytes
from fedtheory._storage.recipes import Recipe, arrays_of
from fedtheory._support.wording import plain
from fedtheory.engine.contract import RECORDS
from fedtheory.errors import UnsealedWarning

if TYPE_CHECKING:
    from fedtheory.engine.trajectory import Trajectory

__all__ = ["read", "run_bytes"]

_GROUP, _NEEDED = "recipe", ("round", "counts", "diverged_at", "config")
# Files of this form have a seal; those before had no form.
_FORM = "fedtheory run 2"


def run_bytes(run: "Trajectory", *, federation: bool) -> bytes:
    """Return the content of the file of a trajectory, with or without its federation."""
    import xarray as xr

    data, groups = run.to_xarray().assign_attrs(form=_FORM), {}
    if run.recipe is not None:
        recipe = (run.recipe if federation else run.recipe.without("fed")).by_content
        about = {"form": recipe.form, "made_by": recipe.provenance}
        arrays = {name: ([f"{name}_{axis}" for axis in range(a.ndim)], a) for name, a in recipe.arrays.items()}
        groups = {_GROUP: xr.Dataset(arrays, attrs={"about": json.dumps(about)})}
    return sealed(netcdf_bytes(data, groups))


def read(path: Path) -> dict[str, Any]:
    """Return the fields of the trajectory in a file.

    Raises
    ------
    FileNotFoundError
        If there is none.
    ValueError
        If something is missing in it, it cannot be read at all, or is not what was sealed.
    """
    if not path.exists():
        message = f"path must be the file of a run, got {path}, which does not exist"
        raise FileNotFoundError(message)
    try:
        content = read_bytes(path)
        whole = unsealed(content)
        data = netcdf_arrays(content if whole is None else whole)
        _refuse_other_form(data.attrs.get("form"), is_sealed=whole is not None)
        fields = _fields(data) | {"recipe": _recipe(data.groups[_GROUP]) if _GROUP in data.groups else None}
    except Exception as error:  # whatever HDF5, JSON and Python say of bytes that somebody else may have made
        why = str(error) if isinstance(error, OtherFileError) else f"which cannot be read: {error}"
        message = f"path must be the file of a run, got {path}, {plain(' '.join(why.split()))}"
        raise ValueError(message) from error
    if whole is None:
        text = f"{path} was written before runs were sealed: damage and edits cannot be told (save it again)"
        warnings.warn(text, UnsealedWarning, stacklevel=3)
    return fields


def _refuse_other_form(form: Any, *, is_sealed: bool) -> None:
    if form is None and not is_sealed:
        return
    if form != _FORM:
        message = f"whose form is {form}, and not {_FORM}"
        raise OtherFileError(message)
    if not is_sealed:
        message = "which has lost its seal: it was damaged or edited"
        raise OtherFileError(message)


def _fields(data: Arrays) -> dict[str, Any]:
    for name in _NEEDED:
        if name not in data.arrays:
            message = f"in which {name} is missing"
            raise OtherFileError(message)
    rounds, counts, diverged_at = (_numbers(data, name, "i") for name in _NEEDED[:3])
    records = {name: _numbers(data, name, "if") for name in RECORDS if name in data.arrays}
    shape = (*counts.shape[:1], *rounds.shape)
    fitting = [
        values.shape[:2] == shape and values.ndim == 2 + len(RECORDS[name].shape) for name, values in records.items()
    ]
    if (rounds.ndim, counts.ndim, diverged_at.shape) != (1, 2, counts.shape[:1]) or not all((*fitting, *shape)):
        message = "whose records are of different sizes"
        raise OtherFileError(message)
    config = json.loads(str(data.arrays["config"]))
    return {
        "rounds": rounds, "records": records, "counts": counts, "diverged_at": diverged_at,
        "config": {str(name): value for name, value in config.items()},
    }  # fmt: skip


def _recipe(data: Arrays) -> Recipe:
    about = json.loads(data.attrs["about"])
    form, made_by = about["form"], about["made_by"]
    if isinstance(form, dict) and isinstance(made_by, dict) and all(isinstance(v, str) for v in made_by.values()):
        recipe = Recipe(form, {name: _numbers(data, name, "biuf") for name in arrays_of(form)}, made_by)
        if set(recipe.by_content.arrays) == set(recipe.arrays):
            return recipe
    message = "whose recipe is not the one that was written"
    raise OtherFileError(message)


def _numbers(data: Arrays, name: str, kinds: str) -> Any:
    values = np.asarray(data.arrays[name])
    if values.dtype.kind not in kinds:
        message = f"in which {name} is not an array of numbers"
        raise OtherFileError(message)
    return values
