"""Write a set of files so that a folder never holds half a result: all of them beside their names, then renamed."""

import contextlib
import errno
import hashlib
import json
import math
import os
import re
import stat
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from fedtheory._support.wording import short

__all__ = [
    "LOCK",
    "OtherFileError",
    "as_path",
    "deliver",
    "json_bytes",
    "locked",
    "number_of_word",
    "parsed_json",
    "place",
    "publish",
    "published",
    "read_bytes",
    "read_json",
    "refuse_link",
    "regular",
    "writable",
]


class OtherFileError(ValueError):
    """Why a file is not what it should be, in words that follow its name."""


LOCK = ".lock"

_NO_ROOM = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}
_NO_FOLDER = {errno.ENOENT, errno.ENOTDIR}
# Metadata and tables take kilobytes.
_LARGEST_JSON = 64 * 2**20
# Python reads no more digits by default.
_MOST_DIGITS = 4300
# Half of a pair of escapes, if the other half is missing, is text that cannot be written.
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
# JSON has no numbers that are not finite.
_WORDS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_NUMBERS = {word: float(number) for number, word in _WORDS.items()}


def as_path(name: str, value: Any) -> Path:
    """Return a path that was given; TypeError or ValueError for what the system takes for none.

    >>> as_path("out", 3)
    Traceback (most recent call last):
    TypeError: out must be a path, got 3
    """
    if not isinstance(value, str | os.PathLike) or isinstance(os.fspath(value), bytes):
        message = f"{name} must be a path, got {short(value)}"
        raise TypeError(message)
    try:
        has_null = b"\0" in os.fsencode(value)
    except UnicodeEncodeError:
        has_null = True
    if has_null:
        message = f"{name} must be a path that the system can have, got {short(value)}"
        raise ValueError(message)
    return Path(value)


def publish(folder: Path, files: Mapping[str, bytes], index: str, about: Mapping[str, Any]) -> dict[str, Any]:
    """Write every file under a temporary name in the folder, flush it to the disk, and rename them all.

    The file ``index`` comes last and holds ``about`` together with the digests of the others; it is returned.
    """
    waiting: dict[str, Path] = {}
    try:
        known = {**about, "files": {name: _digest(content) for name, content in files.items()}}
        for name, content in {**files, index: json_bytes(known)}.items():
            waiting[name] = _partial(folder, name)
            with _named(folder / name):
                _flushed(waiting[name], content)
        for name, path in waiting.items():
            with _named(folder / name):
                path.replace(folder / name)
    finally:
        for path in waiting.values():
            _removed(path)
    return known


def published(folder: Path, index: str) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return what an index holds, and the files that were written with it.

    Raises
    ------
    OtherFileError
        In words that follow "got", if one of them is not there as it was written.
    """
    known = read_json(folder / index)
    listed = known.get("files") if isinstance(known, dict) else None
    if not isinstance(listed, dict) or not all(isinstance(digest, str) for digest in listed.values()):
        message = f"{index}, in which no files with their digests are listed"
        raise OtherFileError(message)
    found: dict[str, bytes] = {}
    for name, digest in listed.items():
        if name in ("", ".", "..") or not name.isprintable() or set(name) & set("/\\:"):
            message = f"{index}, which lists a file outside of the folder, {short(name)}"
            raise OtherFileError(message)
        refuse_link(folder / name)
        found[name] = read_bytes(folder / name)
        if _digest(found[name]) != digest:
            message = f"{name}, which is another one than {index} lists"
            raise OtherFileError(message)
    return known, found


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def place(path: Path, content: bytes, *, new: bool = False) -> None:
    """Write one file under a temporary name beside it, flush it to the disk, and rename it.

    Raises
    ------
    FileExistsError
        If it is to be a new file and there is one of that name by then: of two processes that ask, one gets it.
    OSError
        In a sentence about the file and its folder, if it cannot be written there.
    """
    waiting = _partial(path.parent, path.name)
    try:
        with _named(path):
            _flushed(waiting, content)
            if not new:
                waiting.replace(path)
        if new:
            _take_name(waiting, path)
    finally:
        _removed(waiting)


def _removed(waiting: Path) -> None:
    with contextlib.suppress(OSError):  # where it could not be made it cannot be removed
        waiting.unlink()


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """Let the system complain about a file by its own name, and not by the one under which it waits."""
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error)
        if error.errno in _NO_ROOM:
            message = f"{path.parent} must have room for {path.name}, got {why}"
        elif error.errno in _NO_FOLDER:
            message = f"{path} must be in a folder that exists, got {path.parent}, which is none"
        else:
            message = f"{path} must be a file that can be written, got {why}"
        raise OSError(error.errno, message) from error


def deliver(path: Path, content: bytes) -> None:
    """Write a file that the user named: whole or not at all, but straight into a device or a pipe."""
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
        the lock is a link, or no plain file: a folder of another user may lead anywhere.
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
        _removed(waiting)


def _partial(folder: Path, name: str) -> Path:
    return folder / f".{name[:100]}.{os.getpid()}-{threading.get_native_id()}.partial"


def _opened_new(path: Path) -> IO[bytes]:
    """Make a file that nothing else has made; one of the name that was left behind, or a link, is removed unread."""
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _not_followed(), 0o666), "wb")


def _flushed(path: Path, content: bytes) -> None:
    with _opened_new(path) as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def json_bytes(value: Any) -> bytes:
    """Return a value as JSON; NumPy scalars become numbers, and numbers that are not finite become words.

    >>> json_bytes((1, math.inf)).split()
    [b'[', b'1,', b'"Infinity"', b']']
    """
    return (json.dumps(_plain(value), indent=2, allow_nan=False) + "\n").encode("utf-8")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    number = value.item() if hasattr(value, "dtype") else value
    return _WORDS[repr(number)] if isinstance(number, float) and not math.isfinite(number) else number


def number_of_word(word: Any) -> Any:
    """Return the number that a word such as "NaN" represents, and any other value unchanged."""
    return _NUMBERS.get(word, word) if isinstance(word, str) else word


def read_json(path: Path) -> Any:
    """Return the content of a JSON file.

    Raises
    ------
    OtherFileError
        In words that follow "got", with the file's name.
    """
    size = regular(path).stat().st_size
    if size > _LARGEST_JSON:
        message = f"{path.name}, which has {size} bytes, more than {_LARGEST_JSON}"
        raise OtherFileError(message)
    try:
        return parsed_json(path.read_bytes())
    except OtherFileError as error:
        message = f"{path.name}, {error}"
        raise OtherFileError(message) from error


def parsed_json(content: bytes) -> Any:
    """Return what a text in JSON says.

    Raises
    ------
    OtherFileError
        In words that follow the name of the file: for other encodings than UTF-8, names that stand twice in an object,
        numbers that are not finite or have thousands of digits, and nesting that Python does not follow.

    >>> parsed_json(b'{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    >>> parsed_json(b'{"a": 1, "a": NaN}')
    Traceback (most recent call last):
    fedtheory._storage.files.OtherFileError: which holds NaN, and not a finite number
    """
    try:
        found = json.loads(
            content.decode("utf-8"), object_pairs_hook=_named_once, parse_constant=_refuse_number, parse_float=_finite,
            parse_int=_integer,
        )  # fmt: skip
        if _HALF.search(content):
            json.dumps(found, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError as error:
        message = f"which is not UTF-8, but has byte {content[error.start]:#x} at place {error.start}"
        raise OtherFileError(message) from error
    except UnicodeEncodeError as error:
        message = "which holds half a character"
        raise OtherFileError(message) from error
    except json.JSONDecodeError as error:
        message = f"which is not JSON: {error}"
        raise OtherFileError(message) from error
    except RecursionError as error:
        message = "which is JSON of more levels than can be read"
        raise OtherFileError(message) from error
    return found


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            message = f"in which {short(name)} stands twice in one object"
            raise OtherFileError(message)
        found[name] = value
    return found


def _refuse_number(text: str) -> Any:
    message = f"which holds {text[:40]}, and not a finite number"
    raise OtherFileError(message)


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse_number(text)


def _integer(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        message = f"which holds an integer of {len(text)} digits, more than {_MOST_DIGITS}"
        raise OtherFileError(message)
    return int(text)


def read_bytes(path: Path) -> bytes:
    """Return the content of a file."""
    if path.is_dir():
        message = f"{path} must be a regular file, got a folder"
        raise ValueError(message)
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
