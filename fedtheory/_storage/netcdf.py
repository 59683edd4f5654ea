"""Labeled data in files: netCDF-3 with 64-bit offsets, written and read by xarray and SciPy.

The format has no compression, links, groups or arrays of variable length. A file is read as untrusted input: it is
mapped into memory, so that SciPy finds no array beyond its end, and arrays are copied only if they are together not
larger than the file. A run or a part of a sweep also has a format version, and a checksum after the data.
"""

import hashlib
import io
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory._storage.files import OtherFileError, read_bytes, regular
from fedtheory._support.wording import plain, truncate

if TYPE_CHECKING:
    from xarray import Dataset, Variable

_MAGIC = b"CDF\x02"
# All other attributes remain attributes.
_DECODED: dict[str, Any] = {"mask_and_scale": False, "decode_times": False}
_INTEGERS = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_INT32_MAX = np.iinfo(np.int32).max
# Doubles represent all integers up to this exactly.
_EXACT = 2**53
_CHECKSUM_BYTES = hashlib.sha256().digest_size


def file_bytes(data: "Dataset", form: str) -> bytes:
    """Return the content of a file with a format version, followed by the SHA-256 of everything before it."""
    content = dataset_bytes(data.assign_attrs(form=form))
    return content + hashlib.sha256(content).digest()


def read_file(path: Path, form: str) -> "Dataset":
    """Return the data set in a file that `file_bytes` describes."""
    data = read_dataset(path)
    found = data.attrs.pop("form", None)
    if found != form:
        message = f"whose form is {truncate(found)}, and not {form!r}"
        raise OtherFileError(message)
    content = read_bytes(path)
    if hashlib.sha256(content[:-_CHECKSUM_BYTES]).digest() != content[-_CHECKSUM_BYTES:]:
        message = "which has changed since it was written: its checksum is another"
        raise OtherFileError(message)
    return data


def dataset_bytes(data: "Dataset") -> bytes:
    """Return the content of the file of a data set.

    The attribute ``dtype`` of an array of integers is the type to which they are restored. What would not come back
    unchanged is refused: integers beyond 2^53, other types than numbers, truth values and text, arrays beyond 2 GiB,
    and names that the format or SciPy cannot store.
    """
    import xarray

    encoding = {name: {"_FillValue": None} for name in data.variables}
    try:
        written = data.drop_encoding().assign({name: _storable(name, one) for name, one in data.variables.items()})
        content = bytes(written.to_netcdf(engine="scipy", format="NETCDF3_64BIT", encoding=encoding))
        with xarray.open_dataset(io.BytesIO(content), engine="scipy", **_DECODED) as found:
            again = _restored(found.load())
    except Exception as error:  # SciPy may raise anything
        message = f"data to be saved must be data that netCDF-3 can hold, got {_sentence(error)}"
        raise ValueError(message) from error
    lost = [
        name for name, one in data.variables.items() if name not in again or not again[name].variable.identical(one)
    ]
    if lost or not data.identical(again):
        what = f"{plain(str(lost[0]))!r}, which comes" if lost else "attributes, which come"
        message = f"data to be saved must be data that netCDF-3 can hold, got {what} back changed"
        raise ValueError(message)
    return content


def _storable(name: Any, variable: "Variable") -> "Variable":
    """Return a variable in the types of the format: integers that do not fit in 32 bits become doubles."""
    if variable.dtype.kind not in "iu" or not variable.size:
        return variable
    largest = max(int(variable.max()), -int(variable.min()))
    if largest > _EXACT:
        message = f"{name} contains an integer of size {largest}, more than 2^53"
        raise ValueError(message)
    found = variable.astype(np.int32 if largest <= _INT32_MAX else np.float64)
    found.attrs["dtype"] = variable.dtype.name
    return found


def read_dataset(path: Path) -> "Dataset":
    """Return the data set in a file."""
    from xarray import open_dataset
    from xarray.backends import ScipyDataStore

    with regular(path).open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            message = "which is not netCDF-3 with 64-bit offsets"
            raise OtherFileError(message)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with ScipyDataStore(os.fspath(path), mmap=True) as store:
                variables = store.get_variables().values()
                if sum(one.nbytes for one in variables) > path.stat().st_size:
                    message = "its arrays are together larger than it"
                    raise ValueError(message)
                if any(one.attrs.get("_Encoding", "utf-8") != "utf-8" for one in variables):
                    message = "its text is not UTF-8"
                    raise ValueError(message)
                found: Dataset = _restored(open_dataset(store, **_DECODED).load())
                return found
        except Exception as error:  # SciPy and xarray raise anything for a header that is damaged
            message = f"which is not whole, or not what it declares: {_sentence(error)}"
            raise OtherFileError(message) from error.with_traceback(None)  # which holds the file open


def _restored(data: Any) -> Any:
    """Return data with text as arrays of text, and integers in their types."""
    changed = {}
    for name, variable in data.variables.items():
        kind = variable.attrs.get("dtype")
        if variable.dtype.kind == "O":
            changed[name] = variable.astype(np.str_)
        elif isinstance(kind, str) and kind in _INTEGERS:
            with np.errstate(invalid="ignore"):
                whole = variable.astype(kind)
            if np.array_equal(whole, variable):
                changed[name] = whole
                del whole.attrs["dtype"]
    return data.assign(changed)


def _sentence(error: Exception) -> str:
    return plain(" ".join(f"{type(error).__name__}: {error}".split()))[:200]
