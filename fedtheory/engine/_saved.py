"""The file of a run: its data set and its provenance."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fedtheory._storage.files import OtherFileError, as_path, parsed_json, place
from fedtheory._storage.netcdf import file_bytes, read_file
from fedtheory._storage.provenance import provenance
from fedtheory.engine.contract import RECORDS

if TYPE_CHECKING:
    from xarray import Dataset

_NEEDED = ("round", "counts", "diverged_at", "config")
_FORM = "fedtheory run 4"


def write(path: Any, data: "Dataset", made_on: Mapping[str, str] | None, *, new: bool) -> None:
    """Write the file of a run, which must not exist if ``new``; the provenance is that of this process by default."""
    target = as_path("path", path)
    if new and target.exists():
        message = f"path must be a new file (overwrite=True replaces it), got {target}, which exists"
        raise FileExistsError(message)
    words = json.dumps(provenance() if made_on is None else dict(made_on))
    place(target, file_bytes(data.assign_attrs(provenance=words), _FORM), new=new)


def read(path: Any) -> dict[str, Any]:
    """Return the fields of the trajectory in a file, which must be the complete and undamaged file of a run."""
    path = as_path("path", path)
    if not path.exists():
        message = f"path must be the file of a run, got {path}, which does not exist"
        raise FileNotFoundError(message)
    try:
        return _fields(read_file(path, _FORM))
    except OtherFileError as error:
        message = f"path must be the file of a run, got {path}, {error}"
        raise ValueError(message) from error


def _fields(data: "Dataset") -> dict[str, Any]:
    for name in _NEEDED:
        if name not in data.variables:
            message = f"in which {name} is missing"
            raise OtherFileError(message)
    rounds, counts, diverged_at = (_numbers(data, name, "i") for name in _NEEDED[:3])
    records = {name: _numbers(data, name, "if") for name in RECORDS if name in data.variables}
    shape = (*counts.shape[:1], *rounds.shape)
    fitting = [
        values.shape[:2] == shape and values.ndim == 2 + len(RECORDS[name].shape) for name, values in records.items()
    ]
    if (rounds.ndim, counts.ndim, diverged_at.shape) != (1, 2, counts.shape[:1]) or not all(fitting):
        message = "whose records are of different sizes"
        raise OtherFileError(message)
    config = _mapping("config", data.variables["config"].values)
    made_on = _mapping("provenance", data.attrs.get("provenance", ""))
    return {
        "rounds": rounds, "records": records, "counts": counts, "diverged_at": diverged_at, "config": config,
        "provenance": {name: str(value) for name, value in made_on.items()},
    }  # fmt: skip


def _mapping(name: str, text: Any) -> dict[str, Any]:
    try:
        found = parsed_json(str(text).encode())
    except OtherFileError as error:
        message = f"in which {name} cannot be read: {error}"
        raise OtherFileError(message) from error
    if not isinstance(found, dict):
        message = f"in which {name} is not a JSON object"
        raise OtherFileError(message)
    return found


def _numbers(data: "Dataset", name: str, kinds: str) -> Any:
    values = data.variables[name].values
    if values.dtype.kind not in kinds:
        message = f"in which {name} is not an array of numbers"
        raise OtherFileError(message)
    return values
