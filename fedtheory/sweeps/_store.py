"""A sweep's folder: a header that says what is swept, one part per configuration, and a lock."""

from __future__ import annotations

import contextlib
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedtheory._storage import files
from fedtheory._storage.archives import archive_bytes, archive_content
from fedtheory._storage.netcdf import dataset_bytes
from fedtheory._storage.provenance import release
from fedtheory.sweeps._grid import Configuration, Grid, canonical
from fedtheory.sweeps._outcomes import Outcome, Variable
from fedtheory.sweeps._work import Work
from fedtheory.sweeps.results import Sweep, SweepWarning

__all__ = ["Store", "header_of", "inspected", "opened", "part_bytes", "part_content"]

_HEADER, _PARTS = "sweep.json", "parts"


@dataclass(frozen=True)
class Store:
    """The folder of a sweep that this process holds the lock of."""

    folder: Path

    def save(self, configuration: Configuration, outcome: Outcome) -> None:
        """Write a part, whole or not at all; OSError if there is no room for it."""
        files.place(self._path(configuration), part_bytes(outcome, configuration.form))

    def load(self, configuration: Configuration) -> Outcome | None:
        """Return what a part holds, None if there is none; ValueError if it is not whole, or of something else."""
        path = self._path(configuration)
        try:
            form, outcome = part_content(files.read_bytes(path))
        except FileNotFoundError:
            return None
        except ValueError as error:
            message = f"{path} is run again: {error}"
            raise ValueError(message) from error
        if form != configuration.form:
            message = f"{path} is run again: a part must be of its own configuration, got {form}"
            raise ValueError(message)
        return outcome

    def publish(self, result: Sweep) -> None:
        """Write the data, the failures and the digest of a finished sweep, which others read."""
        content = {
            "data.nc": dataset_bytes(result.data),
            "failures.json": files.json_bytes([failure._asdict() for failure in result.failures]),
        }
        summary = {"digest": result.digest, "seconds": round(result.seconds, 3)}
        files.publish(self.folder, content, "summary.json", summary)

    def _path(self, configuration: Configuration) -> Path:
        return self.folder / _PARTS / f"{configuration.name}.npz"


def part_bytes(outcome: Outcome, form: str) -> bytes:
    """Return the content of a part: what a configuration found, or its failure, with its canonical form."""
    about = {
        "form": form,
        "variables": [[name, list(variable.dims)] for name, variable in outcome.variables.items()],
        **{name: getattr(outcome, name) for name in ("error", "traceback", "seconds", "made_by")},
    }
    return archive_bytes(about, {f"v{i}": variable.values for i, variable in enumerate(outcome.variables.values())})


def part_content(content: bytes) -> tuple[str, Outcome]:
    """Return the canonical form and the outcome; ValueError if they are not all there."""
    try:
        about, arrays = archive_content(content)
        named = enumerate(about.pop("variables"))
        variables = {name: Variable(tuple(dims), arrays[f"v{i}"]) for i, (name, dims) in named}
        return about.pop("form"), Outcome(variables, **about)
    except (OSError, EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile, NotImplementedError) as error:
        message = f"a part must be a whole archive, got one that cannot be read ({type(error).__name__})"
        raise ValueError(message) from error


def header_of(work: Work, grid: Grid) -> dict[str, Any]:
    """Return what a sweep is known by: what is run, over what, with which seeds, by which version."""
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

    A folder in which the same sweep was begun is gone on with, also over a grid that has grown; ``force`` begins anew
    where another sweep was.

    Raises
    ------
    ValueError
        If the folder cannot be written, another sweep runs in it, or it holds something else.
    """
    _refuse_foreign(folder)
    with contextlib.ExitStack() as stack:
        try:
            files.refuse_link(folder / _PARTS)
            (folder / _PARTS).mkdir(parents=True, exist_ok=True)
            stack.enter_context(files.locked(folder, "only one sweep may run in"))
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
        files.place(folder / _HEADER, files.json_bytes(header))
        yield Store(folder)


def inspected(folder: Path, work: Work, grid: Grid) -> Store | None:
    """Return a folder to read only, None if no sweep began there; refuse what a sweep would refuse."""
    _refuse_foreign(folder)
    found = _read_header(folder)
    if found is None:
        return None
    _refuse_other(folder, found, header_of(work, grid))
    return Store(folder)


def _refuse_foreign(folder: Path) -> None:
    """Refuse what is no sweep's folder; one that was killed before it wrote its header left its parts' at most."""
    found = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if _HEADER not in found and not found <= {_PARTS, files.LOCK}:
        message = f"out must be a new folder or that of a sweep, got {folder}, which holds something else"
        raise ValueError(message)


def _read_header(folder: Path) -> Any:
    try:
        return files.read_json(folder / _HEADER)
    except FileNotFoundError:
        return None
    except ValueError as error:
        message = f"{folder / _HEADER} must be the header of a sweep, got something that cannot be read"
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
