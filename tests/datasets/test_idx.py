"""IDX files are read as written; broken, oversized and malicious files are rejected with name and position."""

import gzip
import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra import numpy as hnp

from fedtheory.datasets.idx import read_idx, read_idx_pair


def packed(array):
    """The IDX bytes of an array of bytes, written independently of the reader."""
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes()


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
@given(array=hnp.arrays(np.uint8, hnp.array_shapes(max_dims=4, max_side=4)))
@settings(max_examples=30)
def test_what_was_written_is_read(tmp_path_factory, compress, array):
    file = tmp_path_factory.mktemp("idx") / "array"
    file.write_bytes(compress(packed(array)))
    result = read_idx(file)
    assert result.dtype == array.dtype
    np.testing.assert_array_equal(result, array)


IMAGES = np.arange(24, dtype="u1").reshape(2, 3, 4) * 10
LABELS = np.array([7, 3], dtype="u1")


@pytest.fixture
def pair(tmp_path):
    files = tmp_path / "images-idx3-ubyte.gz", tmp_path / "labels-idx1-ubyte"
    files[0].write_bytes(gzip.compress(packed(IMAGES)))
    files[1].write_bytes(packed(LABELS))
    return files


def test_a_pair_becomes_rows_in_the_unit_interval_and_labels(pair):
    x, y = read_idx_pair(*pair)
    np.testing.assert_array_equal(x, (IMAGES.reshape(2, 12) / 255).astype(np.float32))
    assert y.tolist() == [7, 3]
    assert x.dtype == np.float32
    assert y.dtype == np.int64


GOOD = packed(IMAGES)


@pytest.mark.parametrize("wrap", [bytes, gzip.compress])
@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "at byte 0, got nothing"),
        (b"\0\0\x07" + GOOD[3:], "at byte 0, got 00 00 07 03"),
        (b"\0\0\x0d" + GOOD[3:], "at byte 0, got 00 00 0d 03"),
        (b"\0\0\x08\0" + GOOD[4:], "at byte 0, got 00 00 08 00"),
        (GOOD[:10], "must declare 3 dimensions at byte 4, got 6 bytes"),
        (GOOD[:-1], "must hold the 24 bytes"),
        (GOOD + b"\0", "must end at byte 40"),
    ],
)
def test_broken_files_are_refused_with_their_name_and_place(tmp_path, wrap, content, text):
    file = tmp_path / "broken-file"
    file.write_bytes(wrap(content))
    with pytest.raises(ValueError, match=f"broken-file must .*{text.removeprefix('must ')}"):
        read_idx(file)


@pytest.mark.parametrize("damage", [lambda b: b[:-9], lambda b: b[:30], lambda b: b[:-8] + b"\0\0\0\0" + b[-4:]])
def test_broken_gzip_streams_are_refused(tmp_path, damage):
    file = tmp_path / "broken.gz"
    file.write_bytes(damage(gzip.compress(GOOD)))
    with pytest.raises(ValueError, match=r"broken\.gz must be a complete gzip stream"):
        read_idx(file)


def peak_of_refusing(file, text):
    tracemalloc.start()
    with pytest.raises(ValueError, match=text):
        read_idx(file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


MEGABYTE = 2**20


def test_a_declared_size_beyond_the_file_is_refused_before_it_is_allocated(tmp_path):
    file = tmp_path / "huge"
    header = struct.pack(">HBB3I", 0, 8, 3, 2**32 - 1, 2**32 - 1, 2**32 - 1)
    file.write_bytes(header + bytes(100))
    assert peak_of_refusing(file, "must declare at most 2147483648 bytes") < MEGABYTE
    file.write_bytes(struct.pack(">HBB1I", 0, 8, 1, 2**30) + bytes(100))
    assert peak_of_refusing(file, "must hold the 1073741824 bytes that its header declares") < MEGABYTE
    file.write_bytes(gzip.compress(struct.pack(">HBB1I", 0, 8, 1, 2**30) + bytes(100)))
    assert peak_of_refusing(file, "must hold the 1073741824 bytes") < MEGABYTE


@pytest.mark.slow
def test_gzip_bombs_are_not_unpacked(tmp_path):
    file = tmp_path / "bomb.gz"
    bomb = bytes(64 * MEGABYTE)
    file.write_bytes(gzip.compress(struct.pack(">HBB1I", 0, 8, 1, 10) + bomb))
    assert peak_of_refusing(file, "must end at byte 18, got more bytes after it") < MEGABYTE


def test_pairs_that_do_not_belong_together_are_refused(pair, tmp_path):
    images, labels = pair
    with pytest.raises(ValueError, match="must hold labels, bytes of shape"):
        read_idx_pair(images, images)
    with pytest.raises(ValueError, match="must hold 2 images of bytes, one per label, got shape"):
        read_idx_pair(labels, labels)
    with pytest.raises(FileNotFoundError):
        read_idx(tmp_path / "absent")
