"""A sweep's folder: a header that says what is swept, one part per configuration, and a lock."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedtheory._storage.files import LOCK, json_bytes, locked, place, read_bytes, read_json, refuse_link
from fedtheory._storage.releases import release
from fedtheory.sweeps.grid import Configuration, Grid, canonical
from fedtheory.sweeps.outcomes import Outcome, from_bytes, to_bytes
from fedtheory.sweeps.work import Work

__all__ = ["HEADER", "Store", "SweepWarning", "header_of", "inspected", "opened"]

HEADER, _PARTS = "sweep.json", "parts"


class SweepWarning(UserWarning):
    """Something in a sweep's folder is not as it was left, and is mended."""


@dataclass(frozen=True)
class Store:
    """The folder of a sweep that this process holds the lock of."""

    folder: Path

    def save(self, configuration: Configuration, outcome: Outcome) -> None:
        """Write a part, whole or not at all; OSError if there is no room for it."""
        place(self._path(configuration), to_bytes(outcome, configuration.form))

    def load(self, configuration: Configuration) -> Outcome | None:
        """Return what a part holds, None if there is none; ValueError if it is not whole, or of something else."""
        path = self._path(configuration)
        try:
            form, outcome = from_bytes(read_bytes(path))
        except FileNotFoundError:
            return None
        except ValueError as error:
            message = f"{path} is run again: {error}"
            raise ValueError(message) from error
        if form != configuration.form:
            message = f"{path} is run again: a part must be of its own configuration, got {form}"
            raise ValueError(message)
        return outcome

    def _path(self, configuration: Configuration) -> Path:
        return self.folder / _PARTS / f"{configuration.name}.npz"


def header_of(work: Work, grid: Grid) -> dict[str, Any]:
    """Return what a sweep is told by: what is run, over what, with which seeds, by which version.

    Parameters
    ----------
    work
        What is run.
    grid
        Over what.

    Returns
    -------
    dict[str, Any]
        Plain data, for JSON.

    Examples
    --------
    >>> from fedtheory.sweeps.grid import gridded
    >>> from fedtheory.sweeps.work import work_of
    >>> header = header_of(work_of(max), gridded({"d": [3, 5]}, seeds=[7]))
    >>> header["sweep"]["name"], header["axes"], header["seeds"]["numbers"]
    ('builtins:max', {'d': ['3', '5']}, [7])
    """
    return {
        "sweep": work.identity,
        "axes": {name: [canonical(value) for value in values] for name, values in grid.axes.items()},
        "seeds": {"rule": grid.rule, "numbers": None if grid.seeds is None else list(grid.seeds)},
        "fedtheory": release(),
        "source": work.source,
    }


@contextlib.contextmanager
def opened(folder: Path, header: Mapping[str, Any], *, force: bool = False) -> Iterator[Store]:
    """Lock a folder for this sweep and write its header, or refuse.

    A folder in which the same sweep was begun is gone on with, also over a grid that has grown. Whatever holds the lock
    loses it when its process ends, in whatever way.

    Parameters
    ----------
    folder
        The folder of a sweep.
    header
        As of ``header_of``.
    force
        Whether to begin anew where another sweep was.

    Yields
    ------
    Store
        Once: the folder is locked in the block of ``with``.

    Raises
    ------
    ValueError
        If the folder cannot be written, another sweep runs in it, or it holds something else; ``force`` takes a folder
        with another sweep and begins anew.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, opened(Path(folder, "sweep"), {"name": "max"}) as store:
    ...     store.folder.name
    'sweep'
    """
    _refuse_foreign(folder)
    with contextlib.ExitStack() as stack:
        try:
            refuse_link(folder / _PARTS)
            (folder / _PARTS).mkdir(parents=True, exist_ok=True)
            stack.enter_context(locked(folder, "only one sweep may run in"))
        except OSError as error:
            message = f"out must be a folder that can be written, got {folder} ({error.strerror})"
            raise ValueError(message if error.strerror else str(error)) from error
        for unfinished in (folder / _PARTS).glob(".*.partial"):
            unfinished.unlink()
        found = _read_header(folder)
        if found is not None and force and _difference(found, header):
            _empty(folder)
        elif found is not None:
            _refuse_other(folder, found, header)
        place(folder / HEADER, json_bytes(header))
        yield Store(folder)


def inspected(folder: Path, work: Work, grid: Grid) -> Store | None:
    """Return a folder to look at, without a lock, None if no sweep began there; refuse what a sweep would refuse.

    Parameters
    ----------
    folder
        The folder of a sweep.
    work, grid
        What would be run.

    Returns
    -------
    Store | None
        What is there, to be read only.

    Raises
    ------
    ValueError
        If the folder holds something else, or another sweep.

    Examples
    --------
    >>> from fedtheory.sweeps.grid import gridded
    >>> from fedtheory.sweeps.work import work_of
    >>> inspected(Path("nowhere"), work_of(max), gridded({"d": [3, 5]})) is None
    True
    """
    _refuse_foreign(folder)
    found = _read_header(folder)
    if found is None:
        return None
    _refuse_other(folder, found, header_of(work, grid))
    return Store(folder)


def _refuse_foreign(folder: Path) -> None:
    """Refuse what is no sweep's folder; one that was killed before it wrote its header left its parts' at most."""
    found = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if HEADER not in found and not found <= {_PARTS, LOCK}:
        message = f"out must be a new folder or that of a sweep, got {folder}, which holds something else"
        raise ValueError(message)


def _read_header(folder: Path) -> Any:
    try:
        return read_json(folder / HEADER)
    except FileNotFoundError:
        return None
    except ValueError as error:
        message = f"{folder / HEADER} must be the header of a sweep, got something that cannot be read"
        raise ValueError(message) from error


def _refuse_other(folder: Path, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    difference = _difference(found, wanted)
    if difference:
        message = (
            f"{folder} holds results of another sweep ({difference}): choose another folder, or force to overwrite"
        )
        raise ValueError(message)
    if found["source"] != wanted["source"]:
        text = f"the source of {wanted['sweep']['name']} has changed: parts in {folder} that are complete are kept"
        warnings.warn(text, SweepWarning, stacklevel=4)


def _difference(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """Say what differs, nothing if the sweep may go on."""
    try:
        return next(filter(None, _differences(found, wanted)), "")
    except (KeyError, TypeError, AttributeError):
        return "a header of another form"


def _differences(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    """Yield what differs, or nothings; a grid may grow."""
    before, now = found["sweep"], wanted["sweep"]
    yield _unlike("by fedtheory", found["fedtheory"], wanted["fedtheory"])
    yield _unlike("of", before["name"], now["name"])
    yield "" if before == now else f"of {now['name']} with other settings beside the grid"
    yield _unlike("over", ", ".join(found["axes"]), ", ".join(wanted["axes"]))
    yield _unlike("with seeds", found["seeds"]["rule"], wanted["seeds"]["rule"])
    values = {**wanted["axes"], "seed": wanted["seeds"]["numbers"] or []}
    for name, earlier in {**found["axes"], "seed": found["seeds"]["numbers"] or []}.items():
        yield from (f"with {name} {value}" for value in earlier if value not in values[name])


def _unlike(what: str, before: str, now: str) -> str:
    return "" if before == now else f"{what} {before}, not {now}"


def _empty(folder: Path) -> None:
    """Delete what a sweep found; its header stays until there is another, so that no part is taken for the other's."""
    for part in (folder / _PARTS).glob("*.npz"):
        part.unlink()
