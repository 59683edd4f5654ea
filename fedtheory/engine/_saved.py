"""The file of a run: its data set, and in a group of their own the recipe with its arrays."""

import json
from pathlib import Path
from typing import Any

from fedtheory._files import Writer, netcdf_writer
from fedtheory._streams import regular
from fedtheory.engine._recipes import Recipe
from fedtheory.engine.contract import RECORDS

__all__ = ["read", "writer"]

_GROUP, _NEEDED = "recipe", ("round", "counts", "diverged_at", "config")


def writer(run: Any, *, federation: bool) -> Writer:
    """Return what writes a trajectory, with or without its federation."""
    import xarray as xr

    if run.recipe is None:
        return netcdf_writer(run.to_xarray())
    recipe = (run.recipe if federation else run.recipe.without("fed")).by_content
    about = {"form": recipe.form, "made_by": recipe.surroundings}
    arrays = {name: ([f"{name}_{axis}" for axis in range(a.ndim)], a) for name, a in recipe.arrays.items()}
    return netcdf_writer(run.to_xarray(), {_GROUP: xr.Dataset(arrays, attrs={"about": json.dumps(about)})})


def read(path: Path) -> dict[str, Any]:
    """Return the fields of the trajectory in a file.

    Raises
    ------
    FileNotFoundError
        If there is none.
    ValueError
        If something is missing in it, or it cannot be read at all.
    """
    if not path.exists():
        message = f"path must be the file of a run, got {path}, which does not exist"
        raise FileNotFoundError(message)
    data = _dataset(path, None)
    for name in _NEEDED:
        if name not in data.variables:
            message = f"path must be the file of a run, got {path}, in which {name} is missing"
            raise ValueError(message)
    return {
        "rounds": data["round"].values,
        "records": {name: data[name].values for name in RECORDS if name in data},
        "counts": data["counts"].values,
        "diverged_at": data["diverged_at"].values,
        "config": json.loads(str(data["config"].values)),
        "recipe": _recipe(path),
    }


def _recipe(path: Path) -> Recipe | None:
    import h5netcdf

    with h5netcdf.File(path, "r") as opened:
        if _GROUP not in opened.groups:
            return None
    data = _dataset(path, _GROUP)
    about = json.loads(data.attrs["about"])
    recipe = Recipe(
        about["form"], {str(name): found.values for name, found in data.variables.items()}, about["made_by"]
    )
    if set(recipe.by_content.arrays) != set(recipe.arrays):
        message = f"path must be the file of a run, got {path}, whose recipe is not the one that was written"
        raise ValueError(message)
    return recipe


def _dataset(path: Path, group: str | None) -> Any:
    import xarray as xr

    try:
        with xr.open_dataset(regular(path), engine="h5netcdf", group=group) as opened:
            return opened.load()
    except (OSError, ValueError) as error:
        message = f"path must be the file of a run, got {path}, which cannot be read: {' '.join(str(error).split())}"
        raise ValueError(message) from error
