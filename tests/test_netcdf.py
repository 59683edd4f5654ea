"""Saved data come back unchanged, other readers agree, and hostile or damaged files are refused in little memory."""

import io
import re
import resource
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fedtheory._storage.files import OtherFileError
from fedtheory._storage.netcdf import dataset_bytes, file_bytes, read_dataset, read_file

DATA = xarray.Dataset(
    {
        "text": ("x", np.array(["ab", "cé"])),
        "nothing": ("x", np.array(["", ""])),
        "holds": ("x", np.array([True, False])),
        "counts": ("x", np.array([1, -(2**31)])),
        "large": ("x", np.array([1, 2**53])),
        "bytes": ("x", np.array([200, 3], np.uint8)),
        "single": ("x", np.array([1.5, np.inf], np.float32)),
        "gap": (("x", "y"), np.array([[1.5, np.nan, -0.0], [1e300, 5e-324, 3.0]]), {"units": "days since 2000"}),
        "scaled": ("x", np.array([1, 2], np.int32), {"scale_factor": 2.0, "_FillValue": np.int32(2)}),
        "word": ((), "hé ρ"),
        "number": ((), 7),
    },
    coords={"x": [10, 20], "label": "w", "label2": ("x", ["p", "q"])},
    attrs={"title": "é", "number": 3, "rows": [1.5, 2.0], "empty": ""},
)


def read(content: bytes, folder: Path) -> xarray.Dataset:
    (folder / "data.nc").write_bytes(content)
    return read_dataset(folder / "data.nc")


def test_what_is_written_comes_back_with_its_types_and_to_the_bit(tmp_path: Path) -> None:
    found = read(dataset_bytes(DATA), tmp_path)
    assert found.identical(DATA)
    for name, one in DATA.variables.items():
        assert found[name].dtype == one.dtype
        assert found[name].values.tobytes() == one.values.tobytes()


def test_xarray_and_scipy_read_the_same() -> None:
    for content in (dataset_bytes(DATA), file_bytes(DATA, "a checksum follows the data")):
        found = xarray.load_dataset(io.BytesIO(content), engine="scipy", mask_and_scale=False, decode_times=False)
        assert set(found.coords) == set(DATA.coords)
        for name, one in DATA.variables.items():
            values = np.asarray(found[name].values)
            np.testing.assert_array_equal(values.astype(str) if one.dtype.kind == "U" else values, one.values)


NUMBERS = st.one_of(
    st.lists(st.floats(width=64), min_size=1), st.lists(st.integers(-(2**53), 2**53), min_size=1),
    st.lists(st.booleans(), min_size=1),
    st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=1),
)  # fmt: skip


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(NUMBERS)
def test_any_numbers_and_any_text_come_back(tmp_path: Path, values: list[Any]) -> None:
    array = np.array(values)
    found = read(dataset_bytes(xarray.Dataset({"a": ("x", array)})), tmp_path)["a"].values
    np.testing.assert_array_equal(found, array)
    assert array.dtype.kind == found.dtype.kind


UNSAVED: dict[str, Any] = {
    "integers that no double holds": {"a": ("x", [2**53 + 1])},
    "the smallest integer": {"a": ("x", [-(2**63)])},
    "complex numbers": {"a": ("x", [1j])},
    "dates": {"a": ("x", np.array(["2000"], "M8[ns]"))},
    "objects": {"a": ("x", np.array([object()]))},
    "half a character": {"a": ("x", ["\ud800"])},
    "a name of other letters": {"τ": ("x", [1])},
    "an attribute of SciPy": {"a": ("x", [1], {"data": 3})},
    "an attribute that stands for a type": {"a": ("x", [0.5], {"dtype": "bool"})},
    "a list of words": {"a": ("x", [1], {"b": ["c"]})},
    "nothing": {"a": ("x", [1], {"b": None})},
}


@pytest.mark.parametrize("what", UNSAVED)
def test_what_would_not_come_back_unchanged_is_refused_in_one_sentence(what: str) -> None:
    with pytest.raises(
        ValueError, match=re.escape("data to be saved must be data that netCDF-3 can hold, got ")
    ) as one:
        dataset_bytes(xarray.Dataset(UNSAVED[what]))
    assert "\n" not in str(one.value)


def test_an_attribute_that_the_writer_takes_for_its_own_is_refused() -> None:
    with pytest.raises(ValueError, match="data that netCDF-3 can hold"):
        dataset_bytes(xarray.Dataset({"a": ("x", [1])}, attrs={"mode": "quick"}))


def words(*numbers: int) -> bytes:
    return struct.pack(f">{len(numbers)}I", *(number % 2**32 for number in numbers))


def text(name: bytes) -> bytes:
    return words(len(name)) + name + b"\0" * (-len(name) % 4)


def made(
    dims: Any = ((b"x", 2),), arrays: Any = ((b"a", (0,), 6, 0),), *, records: int = 0, attrs: bytes = words(0, 0),
    data: bytes = bytes(16), num_dims: int | None = None, num_arrays: int | None = None, own: bytes = words(0, 0),
) -> bytes:  # fmt: skip
    """Write a file by hand; the place of each array is relative to the end of the header."""
    head = b"CDF\x02" + words(records)
    head += words(10, len(dims) if num_dims is None else num_dims)
    head += b"".join(text(name) + words(length) for name, length in dims)
    head += attrs + words(11, len(arrays) if num_arrays is None else num_arrays)
    bodies = [text(name) + words(len(axes), *axes) + own + words(kind, 0) for name, axes, kind, _ in arrays]
    end = len(head) + sum(len(body) + 8 for body in bodies)
    return head + b"".join(b + struct.pack(">q", end + one[3]) for b, one in zip(bodies, arrays, strict=True)) + data


def test_a_file_that_is_written_by_hand_is_read(tmp_path: Path) -> None:
    content = made(data=struct.pack(">2d", 0.5, -3.0))
    np.testing.assert_array_equal(read(content, tmp_path)["a"].values, [0.5, -3.0])


def attribute(name: bytes, kind: int, number: int, content: bytes = b"") -> bytes:
    return words(12, 1) + text(name) + words(kind, number) + content


MANY = [b"%d" % i for i in range(400)]
HOSTILE: dict[str, Callable[[], bytes]] = {
    "nothing": lambda: b"",
    "netCDF with 32-bit offsets": lambda: b"CDF\x01" + made()[4:],
    "HDF5": lambda: b"\x89HDF\r\n\x1a\n" + bytes(100),
    "text": lambda: b"{}",
    "a dimension of 2^31 - 1": lambda: made(dims=((b"x", 2**31 - 1),)),
    "a negative number of dimensions": lambda: made(num_dims=-1),
    "2^31 - 1 dimensions": lambda: made(num_dims=2**31 - 1),
    "2^31 - 1 arrays": lambda: made(num_arrays=2**31 - 1),
    "a name of 2^31 - 1 bytes": lambda: b"CDF\x02" + words(0, 10, 1, 2**31 - 1),
    "an unknown dimension": lambda: made(arrays=((b"a", (7,), 6, 0),)),
    "a hundred dimensions": lambda: made([(b"%d" % i, 1) for i in range(100)], ((b"a", range(100), 1, 0),)),
    "an unknown type": lambda: made(arrays=((b"a", (0,), 7, 0),)),
    "an array beyond the end": lambda: made(arrays=((b"a", (0,), 6, 8),)),
    "an array before the beginning": lambda: made(arrays=((b"a", (0,), 6, -(2**40)),)),
    "2^31 - 1 records": lambda: made(((b"x", 0),), records=2**31 - 1),
    "400 names of one array": lambda: made(((b"x", 2000),), [(one, (0,), 6, 0) for one in MANY], data=bytes(16_000)),
    "text in a code of its own": lambda: made(
        arrays=((b"a", (0,), 2, 0),), own=attribute(b"_Encoding", 2, 8, b"punycode")
    ),
    "text that is no UTF-8": lambda: made(
        arrays=((b"a", (0,), 2, 0),), own=attribute(b"_Encoding", 2, 5, b"utf-8\0\0\0"), data=b"\xff\xff"
    ),
    "an attribute of 2^31 - 1 doubles": lambda: made(attrs=attribute(b"t", 6, 2**31 - 1)),
    "an attribute for a part of the reader": lambda: made(attrs=attribute(b"variables", 2, 1, b"q\0\0\0")),
    "cut in its header": lambda: made()[:40],
    "cut in its data": lambda: made()[:-1],
}


def most_memory() -> int:
    """Return the largest number of bytes that this process has used."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.parametrize("what", HOSTILE)
def test_a_file_that_declares_other_than_it_holds_is_refused_in_one_sentence_and_little_memory(
    tmp_path: Path, what: str
) -> None:
    content, before = HOSTILE[what](), most_memory()
    with pytest.raises(OtherFileError, match=r"^which is ") as refused:
        read(content, tmp_path)
    assert "\n" not in str(refused.value)
    assert most_memory() < before + 2e7 + 100 * len(content)


FORM = "fedtheory toy 2"


def test_a_file_of_another_version_is_refused_by_its_version(tmp_path: Path) -> None:
    (tmp_path / "data.nc").write_bytes(file_bytes(DATA, "fedtheory toy 1"))
    with pytest.raises(OtherFileError, match="whose form is 'fedtheory toy 1', and not 'fedtheory toy 2'"):
        read_file(tmp_path / "data.nc", FORM)
    (tmp_path / "data.nc").write_bytes(dataset_bytes(DATA))
    with pytest.raises(OtherFileError, match="whose form is None"):
        read_file(tmp_path / "data.nc", FORM)


SMALL = xarray.Dataset({"n": ("x", [1, 2]), "gap": ("x", [0.5, np.nan]), "word": ((), "a")}, attrs={"title": "t"})


def is_refused(content: bytes, folder: Path) -> bool:
    (folder / "data.nc").write_bytes(content)
    try:
        read_file(folder / "data.nc", FORM)
    except OtherFileError:
        return True
    return False


@pytest.mark.parametrize("step", [197, pytest.param(1, marks=pytest.mark.slow)])
def test_a_file_with_a_flipped_bit_is_refused(tmp_path: Path, step: int) -> None:
    whole = file_bytes(SMALL, FORM)
    assert not is_refused(whole, tmp_path)
    for bit in range(0, 8 * len(whole), step):
        broken = bytearray(whole)
        broken[bit // 8] ^= 1 << bit % 8
        assert is_refused(bytes(broken), tmp_path)


@pytest.mark.parametrize("step", [37, pytest.param(1, marks=pytest.mark.slow)])
def test_a_file_that_is_cut_or_continued_is_refused(tmp_path: Path, step: int) -> None:
    whole = file_bytes(SMALL, FORM)
    for length in range(0, len(whole), step):
        assert is_refused(whole[:length], tmp_path)
    assert is_refused(whole + b"\0", tmp_path)
    assert is_refused(whole + whole, tmp_path)
