"""Saved data are restored, other readers agree, and files with false declarations are rejected."""

import io
import re
import struct
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xarray
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory._storage.files import OtherFileError
from fedtheory._storage.netcdf import Variable, dataset_bytes, dataset_of, netcdf_bytes, netcdf_content

DATA = xarray.Dataset(
    {
        "text": ("x", np.array(["ab", "cé"])),
        "nothing": ("x", np.array(["", ""])),
        "holds": ("x", np.array([True, False])),
        "counts": ("x", np.array([1, -(2**31)])),
        "large": ("x", np.array([1, 2**53])),
        "bytes": ("x", np.array([200, 3], np.uint8)),
        "single": ("x", np.array([1.5, np.inf], np.float32)),
        "gap τ": (("x", "y"), np.array([[1.5, np.nan, -0.0], [1e300, 5e-324, 3.0]]), {"units": "days since 2000"}),
        "word": ((), "hé ρ"),
        "number": ((), 7),
    },
    coords={"x": [10, 20], "label": "w", "label2": ("x", ["p", "q"])},
    attrs={"title": "é", "number": 3, "rows": [1.5, 2.0], "empty": "", "large": 2**40},
)


def test_what_is_written_comes_back_with_its_types_and_to_the_bit() -> None:
    found = dataset_of(dataset_bytes(DATA))
    assert set(found.coords) == set(DATA.coords)
    assert {name: one.dims for name, one in found.variables.items()} == {n: v.dims for n, v in DATA.variables.items()}
    for name, one in DATA.variables.items():
        assert found[name].dtype == one.dtype
        assert found[name].values.tobytes() == one.values.tobytes()
        assert found[name].attrs == one.attrs
    assert {name: np.array_equal(value, DATA.attrs[name]) for name, value in found.attrs.items()} == dict.fromkeys(
        DATA.attrs, True
    )


def test_xarray_and_scipy_read_the_same() -> None:
    plain = DATA.drop_vars("gap τ")  # whose name SciPy reads as Latin-1
    found = xarray.load_dataset(io.BytesIO(dataset_bytes(plain)), engine="scipy")
    assert set(found.coords) == set(plain.coords)
    for name, one in plain.variables.items():
        values = np.asarray(found[name].values)
        np.testing.assert_array_equal(values.astype(str) if one.dtype.kind == "U" else values, one.values)


NUMBERS = st.one_of(
    st.lists(st.floats(width=64), min_size=1), st.lists(st.integers(-(2**53), 2**53), min_size=1),
    st.lists(st.booleans(), min_size=1),
    st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=1),
)  # fmt: skip


@settings(max_examples=50, deadline=None)
@given(NUMBERS)
def test_any_numbers_and_any_text_come_back(values: list[Any]) -> None:
    array = np.array(values)
    found = netcdf_content(netcdf_bytes({"a": Variable(("x",), array)}, {})).variables["a"].values
    np.testing.assert_array_equal(found, array)
    assert array.dtype.kind == found.dtype.kind


UNSAVED: dict[str, tuple[Any, str]] = {
    "an empty dimension": ({"a": ("x", [])}, "the dimension x must have a length of at least 1 to be saved"),
    "integers that no double holds": ({"a": ("x", [2**53 + 1])}, "a must contain integers of at most 2^53 to be saved"),
    "the smallest integer": ({"a": ("x", [-(2**63)])}, "a must contain integers of at most 2^53 to be saved"),
    "complex numbers": ({"a": ("x", [1j])}, "a must be made of text, truth values, integers or doubles"),
    "dates": ({"a": ("x", np.array(["2000"], "M8[ns]"))}, "a must be made of text, truth values, integers or doubles"),
    "objects": ({"a": ("x", np.array([object()]))}, "a must be made of text, truth values, integers or doubles"),
    "half a character": ({"a": ("x", ["\ud800"])}, "a must be text that UTF-8 can hold"),
    "a path for a name": ({"a/b": ("x", [1])}, "names to be saved must be printable, not empty, and without '/'"),
    "a name that steers": ({"a\x1b": ("x", [1])}, "names to be saved must be printable, not empty, and without '/'"),
    "an attribute of SciPy": ({"a": ("x", [1], {"data": 3})}, "attributes to be saved must have other names"),
    "a list of words": ({"a": ("x", [1], {"b": ["c"]})}, "the attribute b must be text, a number or a row of numbers"),
    "nothing": ({"a": ("x", [1], {"b": None})}, "the attribute b must be text, a number or a row of numbers"),
}


@pytest.mark.parametrize("what", UNSAVED)
def test_what_the_format_cannot_hold_is_refused_in_one_sentence(what: str) -> None:
    variables, sentence = UNSAVED[what]
    with pytest.raises(ValueError, match=re.escape(sentence)):
        dataset_bytes(xarray.Dataset(variables))


def words(*numbers: int) -> bytes:
    return struct.pack(f">{len(numbers)}I", *(number % 2**32 for number in numbers))


def text(name: bytes) -> bytes:
    return words(len(name)) + name + b"\0" * (-len(name) % 4)


def made(
    dims: Any = ((b"x", 2),), arrays: Any = ((b"a", (0,), 6, 0),), *, records: int = 0, attrs: bytes = words(0, 0),
    data: bytes = bytes(16), num_dims: int | None = None, num_arrays: int | None = None,
) -> bytes:  # fmt: skip
    """Write a file by hand; the place of each array is relative to the end of the header."""
    head = b"CDF\x02" + words(records)
    head += words(10, len(dims) if num_dims is None else num_dims)
    head += b"".join(text(name) + words(length) for name, length in dims)
    head += attrs + words(11, len(arrays) if num_arrays is None else num_arrays)
    bodies = [text(name) + words(len(own), *own) + words(0, 0) + words(kind, 0) for name, own, kind, _ in arrays]
    end = len(head) + sum(len(body) + 8 for body in bodies)
    return head + b"".join(b + struct.pack(">q", end + one[3]) for b, one in zip(bodies, arrays, strict=True)) + data


def test_a_file_that_is_written_by_hand_is_read() -> None:
    content = made(data=struct.pack(">2d", 0.5, -3.0))
    np.testing.assert_array_equal(netcdf_content(content).variables["a"].values, [0.5, -3.0])


def attribute(name: bytes, kind: int, number: int, content: bytes = b"") -> bytes:
    return words(12, 1) + text(name) + words(kind, number) + content


HOSTILE: dict[str, Callable[[], bytes]] = {
    "nothing": lambda: b"",
    "the magic alone": lambda: b"CDF\x02",
    "netCDF with 32-bit offsets": lambda: b"CDF\x01" + made()[4:],
    "netCDF with 64-bit data": lambda: b"CDF\x05" + made()[4:],
    "HDF5": lambda: b"\x89HDF\r\n\x1a\n" + bytes(100),
    "text": lambda: b"{}",
    "records": lambda: made(records=3),
    "streamed records": lambda: made(records=-1),
    "a dimension of 2^31 - 1": lambda: made(dims=((b"x", 2**31 - 1),)),
    "many such dimensions": lambda: made(
        dims=[(b"%d" % i, 2**31 - 1) for i in range(9)], arrays=((b"a", range(9), 6, 0),)
    ),
    "a negative dimension": lambda: made(dims=((b"x", -2),)),
    "an empty dimension": lambda: made(dims=((b"x", 0),)),
    "a negative number of dimensions": lambda: made(num_dims=-1),
    "2^31 - 1 dimensions": lambda: made(num_dims=2**31 - 1),
    "2^31 - 1 arrays": lambda: made(num_arrays=2**31 - 1),
    "a name of 2^31 - 1 bytes": lambda: b"CDF\x02" + words(0, 10, 1, 2**31 - 1),
    "a name of -1 bytes": lambda: b"CDF\x02" + words(0, 10, 1, -1),
    "names that are no UTF-8": lambda: made(dims=((b"\xff\xfe", 2),)),
    "one name for two dimensions": lambda: made(dims=((b"x", 2), (b"x", 2))),
    "one name for two arrays": lambda: made(arrays=((b"a", (0,), 3, 0), (b"a", (0,), 3, 0))),
    "a dimension twice": lambda: made(arrays=((b"a", (0, 0), 1, 0),)),
    "an unknown dimension": lambda: made(arrays=((b"a", (7,), 6, 0),)),
    "a negative one": lambda: made(arrays=((b"a", (-1,), 6, 0),)),
    "a hundred dimensions": lambda: made([(b"%d" % i, 1) for i in range(100)], ((b"a", range(100), 1, 0),)),
    "an unknown type": lambda: made(arrays=((b"a", (0,), 7, 0),)),
    "no type": lambda: made(arrays=((b"a", (0,), 0, 0),)),
    "an array beyond the end": lambda: made(arrays=((b"a", (0,), 6, 8),)),
    "an array far beyond the end": lambda: made(arrays=((b"a", (0,), 6, 2**62),)),
    "an array before the beginning": lambda: made(arrays=((b"a", (0,), 6, -(2**40)),)),
    "400 names of one array": lambda: made(
        ((b"x", 2000),), [(b"%d" % i, (0,), 6, 0) for i in range(400)], data=bytes(16_000)
    ),
    "a single character": lambda: made(arrays=((b"a", (), 2, 0),)),
    "text that is no UTF-8": lambda: made(arrays=((b"a", (0,), 2, 0),), data=b"\xff\xff"),
    "an attribute of 2^31 - 1 doubles": lambda: made(attrs=attribute(b"t", 6, 2**31 - 1)),
    "an attribute of -1 characters": lambda: made(attrs=attribute(b"t", 2, -1)),
    "an attribute that is no UTF-8": lambda: made(attrs=attribute(b"t", 2, 1, b"\xff\0\0\0")),
    "20,000 attributes": lambda: made(attrs=words(12, 20_000) + words(0, 2, 0) * 20_000),
    "an attribute in the place of dimensions": lambda: b"CDF\x02" + words(0, 12, 0, 0, 0, 0, 0),
    "cut in its header": lambda: made()[:40],
    "cut in its data": lambda: made()[:-1],
    "coordinates that are not there": lambda: made(attrs=attribute(b"coordinates", 2, 1, b"q\0\0\0")),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_file_that_declares_other_than_it_holds_is_refused_in_one_sentence_and_little_memory(what: str) -> None:
    content = HOSTILE[what]()
    tracemalloc.start()
    try:
        with pytest.raises(OtherFileError, match=r"^which is ") as refused:
            dataset_of(content)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "\n" not in str(refused.value)
    assert most < 1e6 + 20 * len(content)


def test_a_wrong_byte_anywhere_is_read_or_refused_in_one_sentence() -> None:
    whole = dataset_bytes(DATA)
    rng = np.random.default_rng(0)
    refused = 0
    for place, byte in zip(rng.integers(len(whole), size=400), rng.integers(256, size=400), strict=True):
        broken = bytearray(whole)
        broken[place] = byte
        try:
            dataset_of(bytes(broken))
        except OtherFileError:
            refused += 1
    assert 0 < refused < 400


def test_a_file_that_is_cut_anywhere_is_refused() -> None:
    whole = dataset_bytes(DATA)
    end = len(whole.rstrip(b"\0"))  # what fills the last word of four says nothing
    for length in range(0, end, 7):
        with pytest.raises(OtherFileError):
            dataset_of(whole[:length])


def test_attributes_that_say_a_wrong_type_are_left_as_they_are() -> None:
    for kind, values in (("int64", [0.5, np.nan]), ("uint8", [300.0, 1.0]), ("bool", [0.5, 2.0])):
        variable = Variable(("x",), np.array(values), {"dtype": kind})
        found = netcdf_content(netcdf_bytes({"a": variable}, {})).variables["a"]
        np.testing.assert_array_equal(found.values, values)


@pytest.mark.slow
def test_a_million_short_lines_take_no_object_each() -> None:
    content = netcdf_bytes({"a": Variable(("x",), np.full(10**6, "a"))}, {})
    tracemalloc.start()
    assert netcdf_content(content).variables["a"].values.size == 10**6
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 15 * len(content)
