"""Labeled arrays as netCDF-3 with 64-bit offsets: written by SciPy, read here as untrusted input.

The format has a header, which declares names, lengths, types and positions of all arrays, followed by the arrays. It
has no compression, links, groups or arrays of variable length. The header is not parsed by SciPy, which reads what a
header declares without comparing it with the length of the file.
"""

import io
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fedtheory._storage.files import OtherFileError
from fedtheory._support.wording import plain, truncate

if TYPE_CHECKING:
    from xarray import Dataset

__all__ = ["Content", "Variable", "dataset_bytes", "dataset_of", "netcdf_bytes", "netcdf_content"]

_MAGIC, _HDF5 = b"CDF\x02", b"\x89HDF\r\n\x1a\n"
_DIMENSIONS, _VARIABLES, _ATTRIBUTES = 10, 11, 12
_CHARACTERS = 2
_TYPES = {1: ">i1", _CHARACTERS: "S1", 3: ">i2", 4: ">i4", 5: ">f4", 6: ">f8"}
_INT32 = np.iinfo(np.int32)
# Doubles represent all integers up to this exactly.
_EXACT = 2**53
# The header has 31 bits for the number of bytes of an array.
_MOST_BYTES = 2**31 - 4
# A dimension, an attribute or an array takes more memory here than in the header; no data set has nearly as many.
_MOST_ENTRIES, _MOST_DIMENSIONS = 10_000, 32


class Variable(NamedTuple):
    """An array with the names of its dimensions and its attributes."""

    dims: tuple[str, ...]
    values: npt.NDArray[Any]
    attrs: Mapping[str, Any] = {}


class Content(NamedTuple):
    """The content of a file."""

    variables: dict[str, Variable]
    attrs: dict[str, Any]


def netcdf_bytes(variables: Mapping[str, Variable], attrs: Mapping[str, Any]) -> bytes:
    """Return the content of a file as bytes.

    Text is stored as UTF-8 and booleans as bytes, like xarray does. Integers are stored as 32-bit integers if all fit,
    and otherwise as doubles if all are exact; the attribute ``dtype`` is the type to which they are restored.

    Raises
    ------
    ValueError
        For data that the format cannot represent: empty dimensions, integers beyond 2^53, other types, arrays beyond
        2 GiB.

    >>> content = netcdf_bytes({"n": Variable(("k",), np.array([1, 2**40]))}, {"title": "counts"})
    >>> netcdf_content(content).variables["n"].values, netcdf_content(content).attrs
    (array([            1, 1099511627776]), {'title': 'counts'})
    """
    from scipy.io import netcdf_file

    stream = io.BytesIO()
    file = netcdf_file(stream, "w", mmap=False, version=2)
    for name, variable in variables.items():
        dims, values, own = _storable(name, variable)
        for dim, length in zip(dims, values.shape, strict=True):
            if file.dimensions.get(_name(dim), length) != length or not length:
                wanted = "one length" if length else "a length of at least 1"
                message = f"the dimension {dim} must have {wanted} to be saved, got {length} in {name}"
                raise ValueError(message)
            if _name(dim) not in file.dimensions:
                file.createDimension(_name(dim), length)
        written = file.createVariable(_name(name), values.dtype, tuple(map(_name, dims)))
        written.data[...] = values
        _set_attributes(written, own)
    _set_attributes(file, attrs)
    file.flush()
    content = stream.getvalue()
    file.close()
    return content


def _storable(name: str, variable: Variable) -> tuple[tuple[str, ...], npt.NDArray[Any], dict[str, Any]]:
    """Return dimensions, values and attributes in the types of the format."""
    dims, values, attrs = variable.dims, np.asarray(variable.values), dict(variable.attrs)
    if values.dtype.kind == "U":
        try:
            encoded = np.char.encode(values, "utf-8").reshape(values.shape)
        except UnicodeEncodeError as error:
            message = f"{name} must be text that UTF-8 can hold, got {truncate(error.object)}"
            raise ValueError(message) from error
        length = encoded.dtype.itemsize
        values = np.frombuffer(encoded.tobytes(), dtype="S1").reshape(*encoded.shape, length)
        dims, attrs["_Encoding"] = (*dims, f"string{length}"), "utf-8"
    elif values.dtype.kind == "b":
        values, attrs["dtype"] = values.astype(np.int8), "bool"
    elif values.dtype.kind in "iu" and values.dtype != np.int32:
        attrs["dtype"] = values.dtype.name
        values = _narrowed(name, values)
    elif values.dtype not in (np.int32, np.float32, np.float64):
        message = f"{name} must be made of text, truth values, integers or doubles to be saved, got {values.dtype}"
        raise ValueError(message)
    if values.nbytes > _MOST_BYTES:
        message = f"{name} must have at most 2 GiB to be saved, got {values.nbytes} bytes"
        raise ValueError(message)
    return dims, values, attrs


def _narrowed(name: str, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return integers with 32 bits, or as doubles if these are exact; ValueError otherwise."""
    if not values.size or (_INT32.min <= values.min() and values.max() <= _INT32.max):
        return values.astype(np.int32)
    largest = max(int(values.max()), -int(values.min()))
    if largest > _EXACT:
        message = f"{name} must contain integers of at most 2^53 to be saved, got one of size {largest}"
        raise ValueError(message)
    return values.astype(np.float64)


def _name(text: str) -> str:
    """Return a name encoded for SciPy, which writes one byte per character, so that the file contains UTF-8."""
    if not text or "/" in text or not text.isprintable():
        message = f"names to be saved must be printable, not empty, and without '/', got {text!r}"
        raise ValueError(message)
    return text.encode().decode("latin-1")


def _set_attributes(owner: Any, attrs: Mapping[str, Any]) -> None:
    for name, value in attrs.items():
        if hasattr(owner, _name(name)):  # SciPy would mistake it for an internal one
            message = f"attributes to be saved must have other names than those of SciPy's files, got {name}"
            raise ValueError(message)
        setattr(owner, _name(name), _attribute(name, value))


def _attribute(name: str, value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8")
    numbers = np.atleast_1d(np.asarray(value))
    if numbers.ndim > 1 or not numbers.size or numbers.dtype.kind not in "biuf":
        message = f"the attribute {name} must be text, a number or a row of numbers to be saved, got {truncate(value)}"
        raise ValueError(message)
    return numbers.astype(np.float64) if numbers.dtype.kind == "f" else _narrowed(f"the attribute {name}", numbers * 1)


def netcdf_content(content: bytes) -> Content:
    """Return the content of a file.

    All declarations in the header are compared with the length of the file before anything is read: arrays must be
    within the file and, together, not larger than it, so that reading takes little more memory than the file.

    Raises
    ------
    OtherFileError
        If the bytes are no such file or incomplete, with a message that follows the name of the file.
    """
    if content.startswith(_HDF5):
        message = "which is an HDF5 file, as earlier versions of fedtheory wrote: it is not read any more"
        raise OtherFileError(message)
    if not content.startswith(_MAGIC):
        message = "which is not netCDF-3 with 64-bit offsets"
        raise OtherFileError(message)
    return _Header(content).read()


class _Header:
    """A cursor over the header of a file."""

    def __init__(self, content: bytes) -> None:
        self.content, self.place = content, len(_MAGIC)
        self.bytes_left, self.entries_left = len(content), _MOST_ENTRIES

    def read(self) -> Content:
        if self._number():
            self._refuse("it has records, which fedtheory does not write")
        dims = [(self._text(), self._number()) for _ in range(self._length_of_list(_DIMENSIONS))]
        self._refuse_twice("dimensions", [name for name, _ in dims])
        attrs = self._attributes()
        found = [self._variable(dims) for _ in range(self._length_of_list(_VARIABLES))]
        self._refuse_twice("arrays", [name for name, _ in found])
        return Content(dict(found), attrs)

    def _refuse(self, why: str) -> None:
        message = f"which is not whole, or not what it declares: {plain(why)}"
        raise OtherFileError(message)

    def _refuse_twice(self, what: str, names: list[str]) -> None:
        if len(set(names)) < len(names):
            self._refuse(f"two {what} have one name")

    def _bytes(self, number: int) -> bytes:
        """Return the next bytes, and skip the padding to a multiple of four."""
        end = self.place + number
        if end > len(self.content):
            self._refuse("its header ends early")
        found, self.place = self.content[self.place : end], end + -number % 4
        return found

    def _number(self, size: int = 4) -> int:
        found = int.from_bytes(self._bytes(size), "big", signed=True)
        if found < 0:
            self._refuse(f"a length is {found}")
        return found

    def _length_of_list(self, tag: int) -> int:
        found, length = self._number(), self._number()
        if found not in (tag, 0) or (not found and length):
            self._refuse("a list has another kind than its place")
        self.entries_left -= length
        if self.entries_left < 0:
            self._refuse(f"it has more than {_MOST_ENTRIES} names")
        return length

    def _text(self) -> str:
        return self._decoded(self._bytes(self._number()))

    def _decoded(self, found: bytes) -> str:
        try:
            return found.rstrip(b"\0").decode("utf-8")
        except UnicodeDecodeError:
            self._refuse("text is not UTF-8")
            raise

    def _type(self) -> np.dtype[Any]:
        found = self._number()
        if found not in _TYPES:
            self._refuse(f"a type has the number {found}")
        return np.dtype(_TYPES[found])

    def _attributes(self) -> dict[str, Any]:
        return {self._text(): self._value() for _ in range(self._length_of_list(_ATTRIBUTES))}

    def _value(self) -> Any:
        kind = self._type()
        found = self._bytes(self._number() * kind.itemsize)
        if kind.kind == "S":
            return self._decoded(found)
        values = np.frombuffer(found, kind).astype(kind.newbyteorder("="))
        return values.item() if values.size == 1 else values

    def _variable(self, dims: list[tuple[str, int]]) -> tuple[str, Variable]:
        name, rank = self._text(), self._number()
        if rank > _MOST_DIMENSIONS:
            self._refuse(f"{name} has {rank} dimensions")
        places = [self._number() for _ in range(rank)]
        if any(place >= len(dims) for place in places):
            self._refuse(f"{name} has an unknown dimension")
        names, shape = tuple(dims[place][0] for place in places), tuple(dims[place][1] for place in places)
        attrs, kind = self._attributes(), self._type()
        self._bytes(4)  # the number of bytes, which follows from type and shape
        begin, size = self._number(8), math.prod(shape) * kind.itemsize
        self.bytes_left -= size
        if not all(shape) or len(set(names)) < rank or begin + size > len(self.content) or self.bytes_left < 0:
            self._refuse(f"{name} is declared as {kind.name} of shape {shape} at byte {begin}")
        values = np.frombuffer(self.content, kind, math.prod(shape), begin).reshape(shape)
        if kind.kind != "S":
            return name, _as_it_was(Variable(names, values, attrs))
        if not shape:
            self._refuse(f"{name} is a single character")
        attrs.pop("_Encoding", None)
        return name, Variable(names[:-1], self._lines(values), attrs)

    def _lines(self, values: npt.NDArray[Any]) -> npt.NDArray[np.str_]:
        """Convert rows of characters to text; ASCII needs four times the bytes, but no object per row."""
        shape, length = values.shape[:-1], values.shape[-1]
        codes = values.view(np.uint8)
        if codes.max() < 128:
            return codes.astype(np.uint32).view(f"U{length}").reshape(shape)
        found = np.empty(math.prod(shape), f"U{length}")
        for i, row in enumerate(codes.reshape(-1, length)):
            found[i] = self._decoded(row.tobytes())
        return found.astype(f"U{max(1, np.strings.str_len(found).max())}").reshape(shape)


def _as_it_was(found: Variable) -> Variable:
    """Restore numbers that `_storable` converted."""
    values = found.values.astype(found.values.dtype.newbyteorder("="))
    attrs, kind = dict(found.attrs), found.attrs.get("dtype")
    if kind == "bool" and values.dtype == np.int8:
        values = values.astype(np.bool_)
    elif isinstance(kind, str) and kind in _INTEGERS:
        with np.errstate(invalid="ignore"):
            whole = values.astype(kind)
        if not np.array_equal(values, whole):
            return Variable(found.dims, values, attrs)
        values = whole
    else:
        return Variable(found.dims, values, attrs)
    del attrs["dtype"]
    return Variable(found.dims, values, attrs)


_INTEGERS = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}


def dataset_bytes(data: "Dataset") -> bytes:
    """Return the content of the file of a data set."""
    variables = {
        str(name): Variable(tuple(map(str, one.dims)), _plain(one.values), {str(k): v for k, v in one.attrs.items()})
        for name, one in data.variables.items()
    }
    others = [str(name) for name in data.coords if name not in data.dims]
    for name in others:
        if " " in name:
            message = f"a coordinate to be saved must have a name without spaces, got {name!r}"
            raise ValueError(message)
    attrs = {str(name): value for name, value in data.attrs.items()}
    return netcdf_bytes(variables, attrs | ({"coordinates": " ".join(others)} if others else {}))


def _plain(values: Any) -> npt.NDArray[Any]:
    """Convert text that pandas stores as objects to an array of text."""
    found: npt.NDArray[Any] = np.asarray(values)
    is_text = found.dtype.kind == "O" and all(isinstance(one, str) for one in found.flat)
    return found.astype(np.str_) if is_text else found


def dataset_of(content: bytes) -> "Dataset":
    """Return the data set in a file.

    Raises
    ------
    OtherFileError
        If it is not such a file.
    """
    import xarray

    variables, attrs = netcdf_content(content)
    coordinates = str(attrs.pop("coordinates", "")).split()
    try:
        data = xarray.Dataset({name: (v.dims, v.values, v.attrs) for name, v in variables.items()}, attrs=attrs)
        return data.set_coords(coordinates)
    except ValueError as error:
        message = f"which is not a data set: {' '.join(str(error).split())}"
        raise OtherFileError(message) from error
