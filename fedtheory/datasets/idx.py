"""Reader of IDX files, the format of MNIST, FashionMNIST and EMNIST.

A file is a magic number (two zero bytes, the type, the number of dimensions), the dimensions as big-endian 32-bit
numbers, and the entries. The declared size is compared with the file before memory of that size is allocated.
"""

from __future__ import annotations

import gzip
import math
import zlib
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from fedtheory._storage.files import regular
from fedtheory._support import validate
from fedtheory.federation.client_data import Labels

__all__ = ["read_idx_pair"]

_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_GZIP_MAGIC = b"\x1f\x8b"
# Deflate encodes at most 258 bytes in 2 bits, so that no gzip file expands by more than this factor.
_DEFLATE_RATIO = 1032
_MAX_BYTES = 2**31
_MAX_DIMENSIONS = 32

Features = npt.NDArray[np.float32]


class _Header(NamedTuple):
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    size: int

    @property
    def content(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def read_idx(path: str | Path, *, max_bytes: int = _MAX_BYTES) -> np.ndarray[Any, Any]:
    """Array in an IDX file, in native byte order.

    Parameters
    ----------
    path
        The file; its first bytes, not its name, determine whether it is gzipped.
    max_bytes
        Largest accepted content, in bytes.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "two-labels"
    ...     _ = file.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 3]))
    ...     read_idx(file)
    array([7, 3], dtype=uint8)
    """
    max_bytes = validate.count("max_bytes", max_bytes)
    file = regular(Path(path))
    num_bytes = file.stat().st_size
    with file.open("rb") as raw:
        packed = raw.read(2) == _GZIP_MAGIC
        raw.seek(0)
        if not packed:
            return _content(file, raw, num_bytes, max_bytes, packed=False)
        try:
            with gzip.open(raw) as stream:
                return _content(file, stream, num_bytes, max_bytes, packed=True)  # type: ignore[arg-type]
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise _broken(file, f"be a complete gzip stream, got: {error}") from error


def read_idx_pair(
    images: str | Path, labels: str | Path, *, transposed: bool = False, max_bytes: int = _MAX_BYTES
) -> tuple[Features, Labels]:
    """Pooled samples of two IDX files: features in [0, 1], (N, rows * columns), float32, and labels, (N,).

    Features have single precision and need half of the memory of a federation's samples.

    Parameters
    ----------
    images
        Unsigned bytes, shape (N, ...), which are divided by 255 and rounded once.
    labels
        Unsigned bytes, shape (N,).
    transposed
        True for EMNIST, whose images are stored column by column; they are transposed to match MNIST.
    max_bytes
        Largest accepted content of a file, in bytes; the features take four times as much.

    Examples
    --------
    Two images with one row of two pixels each, and their labels:

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     images, labels = Path(folder, "images"), Path(folder, "labels")
    ...     _ = images.write_bytes(bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 51, 0, 102, 255]))
    ...     _ = labels.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 3]))
    ...     read_idx_pair(images, labels)
    (array([[0.2, 0. ],
           [0.4, 1. ]], dtype=float32), array([7, 3]))
    """
    transposed = validate.boolean("transposed", transposed)
    y = read_idx(labels, max_bytes=max_bytes)
    if y.ndim != 1 or y.dtype != np.uint8 or y.size == 0:
        raise _broken(Path(labels), f"hold labels, bytes of shape (N,), got {y.dtype} of shape {y.shape}")
    x = read_idx(images, max_bytes=max_bytes)
    if x.ndim < 2 or x.dtype != np.uint8 or x.shape[0] != y.size:
        raise _broken(Path(images), f"hold {y.size} images of bytes, one per label, got {x.dtype} of shape {x.shape}")
    if transposed:
        if x.ndim != 3:
            raise _broken(Path(images), f"have 3 dimensions to be transposed, got shape {x.shape}")
        x = x.transpose(0, 2, 1)
    try:
        features = x.reshape(y.size, -1).astype(np.float32)
    except MemoryError as error:
        message = f"{images} must fit into memory, got {x.size} features of 4 bytes each"
        raise MemoryError(message) from error
    features /= np.float32(255)
    return features, y.astype(np.int64)


def _content(file: Path, stream: BinaryIO, num_bytes: int, max_bytes: int, *, packed: bool) -> np.ndarray[Any, Any]:
    header = _header(file, stream)
    if header.content > max_bytes:
        raise _broken(file, f"declare at most max_bytes={max_bytes} bytes, got shape {header.shape} of {header.dtype}")
    available = num_bytes * _DEFLATE_RATIO if packed else num_bytes
    if header.content > available:
        raise _broken(file, f"hold the {header.content} bytes that its header declares, got {num_bytes} bytes in all")
    # One byte more than declared is read, so that a compressed bomb with a correct header is not unpacked.
    content = bytearray()
    while len(content) <= header.content and (block := stream.read(header.content + 1 - len(content))):
        content += block
    if len(content) < header.content:
        raise _broken(file, f"hold the {header.content} bytes that its header declares, got {len(content)}")
    if len(content) > header.content:
        raise _broken(file, f"end at byte {header.size + header.content}, got more bytes after it")
    native = header.dtype.newbyteorder("=")
    return np.frombuffer(content, dtype=header.dtype).astype(native, copy=False).reshape(header.shape)


def _header(file: Path, stream: BinaryIO) -> _Header:
    magic = stream.read(4)
    if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] not in _TYPES or not 1 <= magic[3] <= _MAX_DIMENSIONS:
        raise _broken(file, f"begin with an IDX magic number at byte 0, got {magic.hex(' ') or 'nothing'}")
    dimensions = stream.read(4 * magic[3])
    if len(dimensions) < 4 * magic[3]:
        raise _broken(file, f"declare {magic[3]} dimensions at byte 4, got {len(dimensions)} bytes")
    shape = tuple(int(n) for n in np.frombuffer(dimensions, dtype=">u4"))
    return _Header(np.dtype(_TYPES[magic[2]]), shape, 4 + 4 * magic[3])


def _broken(file: Path, wanted: str) -> ValueError:
    return ValueError(f"{file} must {wanted}")
