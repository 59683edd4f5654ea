"""Write a set of files so that a folder never holds half a result: all of them beside their names, then renamed."""

import hashlib
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

__all__ = ["Writer", "bytes_writer", "digest", "hold", "json_writer", "place", "publish", "read_json", "same_files"]

Writer = Callable[[Path], None]


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


def place(path: Path, write: Writer) -> None:
    """Write one file under a temporary name beside it, flush it to the disk, and rename it."""
    waiting = _partial(path.parent, path.name)
    try:
        _flushed(waiting, write)
        waiting.replace(path)
    finally:
        waiting.unlink(missing_ok=True)


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
            lock.truncate(0)
            lock.write(str(os.getpid()))
            lock.flush()
    except OSError as error:
        with lock:
            lock.seek(0)
            raise BlockingIOError(error.errno, lock.read().strip() or "unknown") from error
    return lock


def _partial(folder: Path, name: str) -> Path:
    return folder / f".{name}.{os.getpid()}.partial"


def _flushed(path: Path, write: Writer) -> None:
    write(path)
    with path.open("rb") as stream:
        os.fsync(stream.fileno())


def bytes_writer(content: bytes) -> Writer:
    """Return what writes bytes."""

    def write(path: Path) -> None:
        path.write_bytes(content)

    return write


def json_writer(value: Any) -> Writer:
    """Return what writes a value as JSON; NumPy scalars become numbers."""
    text = json.dumps(value, indent=2, default=lambda number: number.item()) + "\n"

    def write(path: Path) -> None:
        path.write_text(text, encoding="utf-8")

    return write


def read_json(path: Path) -> Any:
    """Return the content of a JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


def digest(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def same_files(folder: Path, digests: Mapping[str, str]) -> None:
    """Raise ValueError unless every file of the folder has the digest it was sealed with."""
    for name, expected in digests.items():
        if digest(folder / name) != expected:
            message = f"{folder / name} must be the file that was sealed with the others, got different content"
            raise ValueError(message)
