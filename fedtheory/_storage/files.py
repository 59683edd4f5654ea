"""Write a set of files so that a folder never contains half a result: under temporary names, then renamed."""

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
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from fedtheory._support.wording import plain, truncate


class OtherFileError(ValueError):
    """Why a file is not the expected one, as a clause that follows its name."""


LOCK = ".lock"

_NO_ROOM = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}
_NO_FOLDER = {errno.ENOENT, errno.ENOTDIR}
# Metadata and tables take kilobytes.
_LARGEST_JSON = 64 * 2**20
# A lone surrogate escape is text that cannot be written.
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
# JSON has no non-finite numbers.
_WORDS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_NUMBERS = {word: float(number) for number, word in _WORDS.items()}


def as_path(name: str, value: Any) -> Path:
    """Return a path; TypeError or ValueError if the system does not accept it."""
    if not isinstance(value, str | os.PathLike) or isinstance(os.fspath(value), bytes):
        message = f"{name} must be a path, got {truncate(value)}"
        raise TypeError(message)
    try:
        has_null = b"\0" in os.fsencode(value)
    except UnicodeEncodeError:
        has_null = True
    if has_null:
        message = f"{name} must be a path that the system accepts, got {truncate(value)}"
        raise ValueError(message)
    return Path(value)


def publish(folder: Path, files: Mapping[str, bytes], index: str, about: Mapping[str, Any]) -> dict[str, Any]:
    """Write every file under a temporary name in the folder, flush it to the disk, and rename them all.

    The file ``index`` is the last; it contains ``about`` and the digests of the others, and is returned.
    """
    known = {**about, "files": {name: _digest(content) for name, content in files.items()}}
    with contextlib.ExitStack() as stack:
        waiting = {
            folder / name: stack.enter_context(_written(folder / name, content))
            for name, content in {**files, index: json_bytes(known)}.items()
        }
        for path, partial in waiting.items():
            with _named(path):
                partial.replace(path)
    return known


def published(folder: Path, index: str) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the content of an index and the files that were written with it."""
    known = read_json(folder / index)
    listed = known.get("files") if isinstance(known, dict) else None
    if not isinstance(listed, dict) or not all(isinstance(digest, str) for digest in listed.values()):
        message = f"{index}, in which no files with their digests are listed"
        raise OtherFileError(message)
    found: dict[str, bytes] = {}
    for name, digest in listed.items():
        if name in ("", ".", "..") or not name.isprintable() or set(name) & set("/\\:"):
            message = f"{index}, which lists a file outside of the folder, {truncate(name)}"
            raise OtherFileError(message)
        _refuse_link(folder / name)
        found[name] = read_bytes(folder / name)
        if _digest(found[name]) != digest:
            message = f"{name}, which differs from the one that {index} lists"
            raise OtherFileError(message)
    return known, found


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def place(path: Path, content: bytes, *, new: bool = False) -> None:
    """Write one file under a temporary name, flush it to the disk, and rename it; it may have to be new."""
    with _written(path, content) as partial:
        if new:
            _take_name(partial, path)
        else:
            with _named(path):
                partial.replace(path)


@contextlib.contextmanager
def _written(path: Path, content: bytes) -> Iterator[Path]:
    """Write a file under a temporary name, which is removed at the end unless it was renamed."""
    partial = path.parent / f".{path.name[:100]}.{os.getpid()}-{threading.get_native_id()}.partial"
    try:
        with _named(path):
            partial.unlink(missing_ok=True)  # a leftover, or a link
            with partial.open("xb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
        yield partial
    finally:
        with contextlib.suppress(OSError):  # it may not exist
            partial.unlink()


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """Make errors of the system name the file instead of its temporary name."""
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error)
        if error.errno in _NO_ROOM:
            message = f"{path.parent} must have room for {path.name}, got {why}"
        elif error.errno in _NO_FOLDER:
            message = f"{path} must be in a folder that exists, got {path.parent}, which does not exist"
        else:
            message = f"{path} must be a file that can be written, got {why}"
        raise OSError(error.errno, message) from error


def deliver(path: Path, content: bytes) -> None:
    """Write a file that the user named: completely or not at all, or directly into a device or a pipe."""
    if path.exists() and not path.is_file():
        with path.open("wb") as stream:
            stream.write(content)
    else:
        # A link that the user named is followed.
        place(path.resolve(), content)


def _take_name(partial: Path, path: Path) -> None:
    try:
        os.link(partial, path)
    except FileExistsError as error:
        message = f"{path} must be a new file, got one that was written in the meantime"
        raise FileExistsError(message) from error
    except OSError:  # a file system without hard links
        with _named(path):
            partial.replace(path)


@contextlib.contextmanager
def locked(folder: Path, only_one: str) -> Iterator[None]:
    """Create a folder, lock it until this process ends, and remove the partial files of a killed process."""
    folder.mkdir(parents=True, exist_ok=True)
    _refuse_link(folder / LOCK)
    with regular(folder / LOCK).open("a", encoding="utf-8") as lock:
        try:
            _lock(lock)
        except OSError as error:
            message = f"{only_one} {folder}, got another process ({error.strerror})"
            raise FileExistsError(message) from error
        for partial in folder.glob(".*.partial"):
            partial.unlink()
        yield


def _lock(file: IO[str]) -> None:
    """Lock an open file; OSError if another process has locked it."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _refuse_link(path: Path) -> None:
    """Raise FileExistsError if a name in an output folder is a link."""
    if path.is_symlink():
        message = f"{path} must not be a link, got one: remove it"
        raise FileExistsError(message)


def json_bytes(value: Any) -> bytes:
    """Return a value as JSON; NumPy scalars become numbers, and non-finite numbers become words."""
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
    """Return the content of a JSON file."""
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
    """Return the value of a JSON text, in which every name stands once and every number is finite."""
    try:
        found = json.loads(
            content.decode("utf-8"), object_pairs_hook=_named_once, parse_constant=_finite, parse_float=_finite
        )
        if _HALF.search(content):
            json.dumps(found, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        message = f"which is not JSON that can be read: {plain(str(error))}"
        raise OtherFileError(message) from error
    return found


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) < len(pairs):
        [(twice, _)] = Counter(name for name, _ in pairs).most_common(1)
        message = f"{truncate(twice)} stands twice in one object"
        raise ValueError(message)
    return found


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        message = f"{text[:40]} is not a finite number"
        raise ValueError(message)
    return number


def read_bytes(path: Path) -> bytes:
    """Return the content of a file."""
    return regular(path).read_bytes()


def regular(path: Path) -> Path:
    """Return the path of a file to read; folders are rejected, and pipes and devices, on which reading may block.

    Missing files are reported by the function that opens them.
    """
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            kind = "a folder" if stat.S_ISDIR(mode) else "a pipe" if stat.S_ISFIFO(mode) else "a device or a socket"
            message = f"{path} must be a regular file, got {kind}"
            raise ValueError(message)
    return path
