"""Write a set of files so that a folder never holds half a result: all of them beside their names, then renamed."""

import contextlib
import errno
import hashlib
import io
import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from fedtheory._streams import regular

__all__ = [
    "Writer",
    "bytes_writer",
    "digest",
    "hold",
    "json_writer",
    "netcdf_writer",
    "place",
    "publish",
    "read_json",
    "same_files",
]

Writer = Callable[[Path], None]

_NO_ROOM = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}


def publish(folder: Path, writers: Mapping[str, Writer], seal: str, sealed: Mapping[str, Any]) -> dict[str, Any]:
    """Write every file under a temporary name in the folder, flush it to the disk, and rename them all.

    The file ``seal`` comes last and holds ``sealed`` together with the digests of the others; it is returned.
    """
    waiting: dict[str, Path] = {}
    try:
        for name, write in writers.items():
            waiting[name] = _partial(folder, name)
            _flushed(waiting[name], write)
        content = {**sealed, "files": {name: digest(path) for name, path in waiting.items()}}
        waiting[seal] = _partial(folder, seal)
        _flushed(waiting[seal], json_writer(content))
        for name, path in waiting.items():
            path.replace(folder / name)
    finally:
        for path in waiting.values():
            path.unlink(missing_ok=True)
    return content


def place(path: Path, write: Writer, *, new: bool = False) -> None:
    """Write one file under a temporary name beside it, flush it to the disk, and rename it.

    Raises
    ------
    FileExistsError
        If it is to be a new file and there is one of that name by then: of two processes that ask, one gets it.
    """
    waiting = _partial(path.parent, path.name)
    try:
        _flushed(waiting, write)
        if new:
            _take_name(waiting, path)
        else:
            waiting.replace(path)
    finally:
        waiting.unlink(missing_ok=True)


def _take_name(waiting: Path, path: Path) -> None:
    try:
        os.link(waiting, path)
    except FileExistsError as error:
        message = f"{path} must be a new file, got one that was written meanwhile"
        raise FileExistsError(message) from error
    except OSError:  # a file system without second names
        waiting.replace(path)


def hold(path: Path) -> IO[str]:
    """Open a file and lock it; whatever holds the lock loses it when the file is closed or its process ends.

    Raises
    ------
    BlockingIOError
        If another process holds it, whose number is the ``strerror``.
    """
    lock = path.open("a+", encoding="utf-8")
    try:
        if sys.platform == "win32":
            import msvcrt

            lock.seek(0)
            msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with contextlib.suppress(OSError):  # on a full disk the number is missing, and the lock is held
                lock.truncate(0)
                os.write(lock.fileno(), str(os.getpid()).encode())
    except OSError as error:
        with lock:
            lock.seek(0)
            raise BlockingIOError(error.errno, lock.read().strip() or "unknown") from error
    return lock


def _partial(folder: Path, name: str) -> Path:
    return folder / f".{name}.{os.getpid()}-{threading.get_native_id()}.partial"


def _flushed(path: Path, write: Writer) -> None:
    try:
        write(path)
        with path.open("rb") as stream:
            os.fsync(stream.fileno())
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        name = path.name.removeprefix(".").rsplit(".", 2)[0]
        message = f"{path.parent} must have room for {name}, got {os.strerror(error.errno)}"
        raise OSError(error.errno, message) from error


def bytes_writer(content: bytes) -> Writer:
    """Return what writes bytes."""

    def write(path: Path) -> None:
        path.write_bytes(content)

    return write


def netcdf_writer(data: Any, groups: Mapping[str, Any] | None = None) -> Writer:
    """Return what writes a data set as netCDF, with others in groups of it.

    The file is made in memory: on a full disk the HDF5 library does not complain, it ends the process.
    """

    def write(path: Path) -> None:
        content = io.BytesIO()
        data.to_netcdf(content, engine="h5netcdf")
        for name, more in (groups or {}).items():
            more.to_netcdf(content, engine="h5netcdf", mode="a", group=name)
        path.write_bytes(content.getbuffer())

    return write


def json_writer(value: Any) -> Writer:
    """Return what writes a value as JSON; NumPy scalars become numbers."""
    text = json.dumps(value, indent=2, default=lambda number: number.item()) + "\n"

    def write(path: Path) -> None:
        path.write_text(text, encoding="utf-8")

    return write


def read_json(path: Path) -> Any:
    """Return the content of a JSON file."""
    return json.loads(regular(path).read_text(encoding="utf-8"))


def digest(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    return hashlib.sha256(regular(path).read_bytes()).hexdigest()


def same_files(folder: Path, digests: Mapping[str, str]) -> None:
    """Raise ValueError unless every file of the folder has the digest it was sealed with."""
    for name, expected in digests.items():
        if digest(folder / name) != expected:
            message = f"{folder / name} must be the file that was sealed with the others, got different content"
            raise ValueError(message)
