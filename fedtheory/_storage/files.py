"""Write a set of files so that a folder never holds half a result: all of them beside their names, then renamed."""

import contextlib
import errno
import hashlib
import json
import os
import stat
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

__all__ = [
    "LOCK",
    "OtherFileError",
    "deliver",
    "json_bytes",
    "locked",
    "place",
    "publish",
    "published",
    "read_bytes",
    "read_json",
    "refuse_link",
    "regular",
    "sealed",
    "unsealed",
    "writable",
]


class OtherFileError(ValueError):
    """Why a file is not what it should be, in words that follow its name."""


LOCK = ".lock"

_NO_ROOM = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}
_SEAL = b"\nsealed by fedtheory, sha256 "


def publish(folder: Path, files: Mapping[str, bytes], seal: str, sealed: Mapping[str, Any]) -> dict[str, Any]:
    """Write every file under a temporary name in the folder, flush it to the disk, and rename them all.

    The file ``seal`` comes last and holds ``sealed`` together with the digests of the others; it is returned.
    """
    waiting: dict[str, Path] = {}
    try:
        about = {**sealed, "files": {name: _digest(content) for name, content in files.items()}}
        for name, content in {**files, seal: json_bytes(about)}.items():
            waiting[name] = _partial(folder, name)
            _flushed(waiting[name], content)
        for name, path in waiting.items():
            path.replace(folder / name)
    finally:
        for path in waiting.values():
            path.unlink(missing_ok=True)
    return about


def published(folder: Path, seal: str) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return what a seal holds, and the files that were written with it."""
    content = read_json(folder / seal)
    files = {name: read_bytes(folder / name) for name in content["files"]}
    for name, expected in content["files"].items():
        if _digest(files[name]) != expected:
            message = f"{folder / name} must be the file that was sealed with the others, got different content"
            raise ValueError(message)
    return content, files


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def place(path: Path, content: bytes, *, new: bool = False) -> None:
    """Write one file under a temporary name beside it, flush it to the disk, and rename it.

    Raises
    ------
    FileExistsError
        If it is to be a new file and there is one of that name by then: of two processes that ask, one gets it.
    """
    waiting = _partial(path.parent, path.name)
    try:
        _flushed(waiting, content)
        if new:
            _take_name(waiting, path)
        else:
            waiting.replace(path)
    finally:
        waiting.unlink(missing_ok=True)


def deliver(path: Path, content: bytes) -> None:
    """Write a file that somebody named: whole or not at all, but straight into a device or a pipe."""
    if path.exists() and not path.is_file():
        with path.open("wb") as stream:
            stream.write(content)
    else:
        # A link that was named is meant to lead where it does.
        place(path.resolve(), content)


def _take_name(waiting: Path, path: Path) -> None:
    try:
        os.link(waiting, path)
    except FileExistsError as error:
        message = f"{path} must be a new file, got one that was written meanwhile"
        raise FileExistsError(message) from error
    except OSError:  # a file system without second names
        waiting.replace(path)


@contextlib.contextmanager
def locked(folder: Path, only_one: str) -> Iterator[None]:
    """Keep a folder for this process, which loses it when it ends; what a killed one left half written is removed.

    Raises
    ------
    FileExistsError
        If another process keeps it, in a sentence that begins with the words that are given; or if what has the name of
        the lock is a link, or no plain file: a folder from somebody else may lead anywhere.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        lock = _locked_file(folder / LOCK)
    except BlockingIOError as error:
        message = f"{only_one} {folder}, got a second one beside process {error.strerror}"
        raise FileExistsError(message) from error
    with lock:
        for unfinished in folder.glob(".*.partial"):
            unfinished.unlink()
        yield


def _locked_file(path: Path) -> IO[str]:
    """Open a file and lock it; BlockingIOError if another process holds it, whose number is the ``strerror``."""
    lock = _opened_itself(path)
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


def _opened_itself(path: Path) -> IO[str]:
    """Open a file to be read and written, or make it; what is not a file of its own with one name is not touched."""
    refuse_link(path)
    try:
        number = os.open(path, os.O_RDWR | os.O_CREAT | _not_followed(), 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:  # it has become one meanwhile
            refuse_link(path)
        raise
    opened = os.fdopen(number, "r+", encoding="utf-8")
    found = os.fstat(number)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        opened.close()
        message = f"{path} must be a plain file of its own, got a second name of one or something else: remove it"
        raise FileExistsError(message)
    return opened


def _not_followed() -> int:
    # Windows has neither of the first two, and makes links for those only who may.
    return getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def refuse_link(path: Path) -> None:
    """Raise FileExistsError if a name in a folder that is written into leads elsewhere."""
    if path.is_symlink():
        message = f"{path} must be no link, got one, which leads elsewhere: remove it"
        raise FileExistsError(message)


def writable(path: Path) -> None:
    """Raise OSError unless a file of this name can be placed, before there is anything to place."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    waiting = _partial(path.parent, path.name)
    try:
        _opened_new(waiting).close()
    finally:
        waiting.unlink(missing_ok=True)


def _partial(folder: Path, name: str) -> Path:
    return folder / f".{name}.{os.getpid()}-{threading.get_native_id()}.partial"


def _opened_new(path: Path) -> IO[bytes]:
    """Make a file that nobody else has made; one of the name that was left behind, or a link, is removed unread."""
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _not_followed(), 0o666), "wb")


def _flushed(path: Path, content: bytes) -> None:
    try:
        with _opened_new(path) as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        name = path.name.removeprefix(".").rsplit(".", 2)[0]
        message = f"{path.parent} must have room for {name}, got {os.strerror(error.errno)}"
        raise OSError(error.errno, message) from error


def json_bytes(value: Any) -> bytes:
    """Return a value as JSON; NumPy scalars become numbers."""
    text = json.dumps(value, indent=2, default=lambda number: number.item()) + "\n"
    return text.encode("utf-8")


def sealed(content: bytes) -> bytes:
    """Return the content with a digest of it at the end, where archives and HDF5 do not look.

    It tells damage and edits. It is no signature: whoever writes another content can seal that.

    >>> unsealed(sealed(b"content")), unsealed(b"content")
    (b'content', None)
    """
    return content + _SEAL + _digest(content).encode()


def unsealed(content: bytes) -> bytes | None:
    """Return the content without its seal, None if it has none.

    Raises
    ------
    OtherFileError
        If it is not what was sealed.

    >>> unsealed(sealed(b"content").replace(b"content", b"contend"))
    Traceback (most recent call last):
    fedtheory._storage.files.OtherFileError: which is not what was written: it was damaged or edited
    """
    length = len(_SEAL) + 2 * hashlib.sha256().digest_size
    whole, seal = content[:-length], content[-length:]
    if not seal.startswith(_SEAL):
        return None
    if seal != sealed(whole)[-length:]:
        message = "which is not what was written: it was damaged or edited"
        raise OtherFileError(message)
    return whole


def read_json(path: Path) -> Any:
    """Return the content of a JSON file."""
    return json.loads(read_bytes(path))


def read_bytes(path: Path) -> bytes:
    """Return the content of a file."""
    return regular(path).read_bytes()


def regular(path: Path) -> Path:
    """Return the path of a file to read; a pipe or a device, on which reading may wait for ever, is refused.

    What does not exist is left to whoever opens it.
    """
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            kind = "a pipe" if stat.S_ISFIFO(mode) else "a device or a socket"
            message = f"{path} must be a regular file, got {kind}"
            raise ValueError(message)
    return path
