"""Reader of IDX files, the format of MNIST, FashionMNIST and EMNIST.

A file is a magic number (two zero bytes, the type, which must be that of unsigned bytes, the number of dimensions), the
dimensions as big-endian 32-bit numbers, and the entries. The declared size is compared with the file before memory of
that size is allocated.
"""

from __future__ import annotations

import gzip
import math
import zlib
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from fedtheory._storage.files import regular
from fedtheory.federation.client_data import Labels

__all__ = ["read_idx_pair"]

_BYTES = 0x08
_GZIP_MAGIC = b"\x1f\x8b"
# Deflate encodes at most 258 bytes in 2 bits, so that no gzip file expands by more than this factor.
_DEFLATE_RATIO = 1032
_MAX_BYTES = 2**31
_MAX_DIMENSIONS = 32

Features = npt.NDArray[np.float32]


def read_idx(path: str | Path) -> npt.NDArray[np.uint8]:
    """Return the array of unsigned bytes in a file; its first bytes, not its name, say whether it is gzipped."""
    file = regular(Path(path))
    num_bytes = file.stat().st_size
    with file.open("rb") as raw:
        packed = raw.read(2) == _GZIP_MAGIC
        raw.seek(0)
        if not packed:
            return _content(file, raw, num_bytes)
        try:
            with gzip.open(raw) as stream:
                return _content(file, stream, num_bytes * _DEFLATE_RATIO)  # type: ignore[arg-type]
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise _broken(file, f"be a complete gzip stream, got: {error}") from error


def read_idx_pair(images: str | Path, labels: str | Path) -> tuple[Features, Labels]:
    """Pooled samples of two IDX files: features in [0, 1], (N, rows * columns), float32, and labels, (N,).

    ``images`` contains unsigned bytes, shape (N, ...), which are divided by 255 and rounded once; ``labels`` unsigned
    bytes, shape (N,). Each may have 2 GiB.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     images, labels = Path(folder, "images"), Path(folder, "labels")
    ...     _ = images.write_bytes(bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 51, 0, 102, 255]))
    ...     _ = labels.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 3]))
    ...     read_idx_pair(images, labels)
    (array([[0.2, 0. ],
           [0.4, 1. ]], dtype=float32), array([7, 3]))
    """
    y = read_idx(labels)
    if y.ndim != 1 or y.size == 0:
        raise _broken(Path(labels), f"hold labels, bytes of shape (N,), got shape {y.shape}")
    x = read_idx(images)
    if x.ndim < 2 or x.shape[0] != y.size:
        raise _broken(Path(images), f"hold {y.size} images of bytes, one per label, got shape {x.shape}")
    try:
        features = x.reshape(y.size, -1).astype(np.float32)
    except MemoryError as error:
        message = f"{images} must fit into memory, got {x.size} features of 4 bytes each"
        raise MemoryError(message) from error
    features /= np.float32(255)
    return features, y.astype(np.int64)


def _content(file: Path, stream: BinaryIO, available: int) -> npt.NDArray[np.uint8]:
    shape = _shape(file, stream)
    size = math.prod(shape)
    if size > _MAX_BYTES:
        raise _broken(file, f"declare at most {_MAX_BYTES} bytes, got shape {shape}")
    if size > available:
        raise _broken(file, f"hold the {size} bytes that its header declares, got fewer")
    # One byte more than declared is read, so that a compressed bomb with a correct header is not unpacked.
    content = bytearray()
    while len(content) <= size and (block := stream.read(size + 1 - len(content))):
        content += block
    if len(content) < size:
        raise _broken(file, f"hold the {size} bytes that its header declares, got {len(content)}")
    if len(content) > size:
        raise _broken(file, f"end at byte {4 + 4 * len(shape) + size}, got more bytes after it")
    return np.frombuffer(content, dtype=np.uint8).reshape(shape)


def _shape(file: Path, stream: BinaryIO) -> tuple[int, ...]:
    magic = stream.read(4)
    if len(magic) < 4 or magic[:3] != bytes([0, 0, _BYTES]) or not 1 <= magic[3] <= _MAX_DIMENSIONS:
        raise _broken(file, f"begin with the IDX magic number of bytes at byte 0, got {magic.hex(' ') or 'nothing'}")
    dimensions = stream.read(4 * magic[3])
    if len(dimensions) < 4 * magic[3]:
        raise _broken(file, f"declare {magic[3]} dimensions at byte 4, got {len(dimensions)} bytes")
    return tuple(int(n) for n in np.frombuffer(dimensions, dtype=">u4"))


def _broken(file: Path, wanted: str) -> ValueError:
    return ValueError(f"{file} must {wanted}")
