"""The folder of a study: who may write into it, what is written and read, and how two results differ."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from fedtheory._storage.digests import difference
from fedtheory._storage.files import Writer, hold, json_writer, netcdf_writer, publish, read_json, same_files

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

__all__ = ["CHECKS", "DATA", "METADATA", "TABLE", "plain_config", "read", "reserved", "restored", "save_figure"]
__all__ += ["unlike_data", "write"]

DATA, TABLE, CHECKS, METADATA = "data.nc", "table.json", "checks.json", "metadata.json"
_LOCK, _DOTS_PER_INCH = ".lock", 160


@contextlib.contextmanager
def reserved(folder: Path, wanted: Mapping[str, Any], *, force: bool) -> Iterator[None]:
    """Keep a folder for this process while it answers and writes; what a killed one left half written is removed.

    Raises
    ------
    FileExistsError
        If the folder holds something else than results of the wanted configuration, unless ``force``, or another
        process keeps it.
    """
    if not force:
        _refuse_foreign(folder, wanted)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        lock = hold(folder / _LOCK)
    except BlockingIOError as error:
        message = f"only one study may write into {folder}, got a second one beside process {error.strerror}"
        raise FileExistsError(message) from error
    with lock:
        for unfinished in folder.glob(".*.partial"):
            unfinished.unlink()
        yield


def _refuse_foreign(folder: Path, wanted: Mapping[str, Any]) -> None:
    if not folder.exists() or (folder.is_dir() and _is_unfinished({path.name for path in folder.iterdir()})):
        return
    try:
        found = read_json(folder / METADATA)["config"]
    except (OSError, ValueError, KeyError, TypeError):
        found = None
    if found != wanted:
        what = "something else" if found is None else "results of another configuration"
        message = f"{folder} holds {what}: choose another --output, or --force to overwrite"
        raise FileExistsError(message)


def _is_unfinished(names: set[str]) -> bool:
    """Whether files are none, or what a study left that was killed before it had written all of them.

    All are written under other names before the first gets its own, and the one that seals them is the last.
    """
    hidden = {name for name in names if name == _LOCK or (name.startswith(".") and name.endswith(".partial"))}
    sealing = any(name.startswith(f".{METADATA}.") for name in hidden)
    return not names - hidden or (sealing and METADATA not in names)


def save_figure(figure: Figure, path: Path | IO[bytes], kind: str) -> None:
    """Write a figure as ``png`` or ``pdf``; the same figure makes the same bytes, whatever the date.

    Labels and legends that reach beyond the figure make it larger: nothing is cut.

    Parameters
    ----------
    figure
        A figure of matplotlib.
    path
        The file, or what is open for its bytes.
    kind
        ``png`` or ``pdf``.

    Examples
    --------
    >>> import tempfile
    >>> from matplotlib.figure import Figure
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_figure(Figure(figsize=(2, 1)), Path(folder, "empty.png"), "png")
    ...     Path(folder, "empty.png").read_bytes()[1:4]
    b'PNG'
    """
    engine = figure.get_layout_engine()
    _save(figure, path, kind, whole=_arranged(figure))
    if engine is not None:
        figure.set_layout_engine(engine)


def _arranged(figure: Figure) -> Bbox:
    """Arrange a figure, which then stays so, and return what it needs in inches: most of the time of saving it."""
    from matplotlib import rc_context

    drawn_at, figure.dpi = figure.dpi, _DOTS_PER_INCH
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
    whole = figure.get_tightbbox().padded(0.05)
    figure.dpi = drawn_at
    with rc_context({"figure.autolayout": False, "figure.constrained_layout.use": False}):
        figure.set_layout_engine(None)
    return whole


def _save(figure: Figure, path: Path | IO[bytes], kind: str, whole: Bbox) -> None:
    undated: dict[str, Any] = {"png": {"Software": None}, "pdf": {"CreationDate": None}}[kind]
    figure.savefig(path, format=kind, dpi=_DOTS_PER_INCH, metadata=undated, bbox_inches=whole)


def write(folder: Path, result: Any, figures: Mapping[str, Callable[[Any], Figure]]) -> dict[str, Any]:
    """Write what a study found, and its figures; return its metadata, with the digests of the files."""
    writers: dict[str, Writer] = {
        DATA: netcdf_writer(result.data),
        TABLE: json_writer(result.table._asdict()),
        CHECKS: json_writer({name: check._asdict() for name, check in result.checks.items()}),
    }
    for name, draw in figures.items():
        figure = draw(result.data)
        whole = _arranged(figure)
        writers |= {f"{name}.{kind}": partial(_save, figure, kind=kind, whole=whole) for kind in ("png", "pdf")}
    return publish(folder, writers, METADATA, result.metadata)


def read(folder: Path) -> tuple[Any, Any, Any, Any]:
    """Return data, table, checks and metadata as they were written.

    Raises
    ------
    ValueError
        If something is missing in the folder, or not what it was.
    """
    import xarray

    try:
        metadata = read_json(folder / METADATA)
        same_files(folder, metadata["files"])
        data = xarray.load_dataset(folder / DATA, engine="h5netcdf")
        return data, read_json(folder / TABLE), read_json(folder / CHECKS), metadata
    except FileNotFoundError as error:
        missing = Path(str(error.filename or METADATA)).name
        message = f"{folder} must hold the results of a study, got a folder in which {missing} is missing"
        raise ValueError(message) from error
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        message = f"{folder} must hold the results of a study, got a {METADATA} that cannot be read"
        raise ValueError(message) from error


def unlike_data(then: Any, now: Any) -> list[str]:
    """Say in which variables two data sets differ.

    >>> import xarray
    >>> one, other = (xarray.Dataset({"gap": ("round", [1.0, end])}) for end in (2.0, 2.5))
    >>> unlike_data(one, other)
    ['gap differs, by at most 2.0e-01 of its size']
    >>> unlike_data(one, xarray.Dataset())
    ['gap is in one of them only']
    """
    found = [
        f"{name} is in one of them only" for name in sorted({*map(str, then.variables)} ^ {*map(str, now.variables)})
    ]
    for name in then.variables:
        if name in now.variables:
            found.append(difference(str(name), _values(then[name]), _values(now[name])))
    return list(filter(None, found))


def _values(variable: Any) -> Any:
    # What was a word is an object after it was read.
    values = np.asarray(variable.values)
    return values.astype(str) if values.dtype.kind in "OSU" else values


def plain_config(config: Any) -> dict[str, Any]:
    """Return a configuration as JSON has it."""
    plain: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(config)))
    return plain


def restored(like: Any, plain: Mapping[str, Any]) -> Any:
    """Make a configuration again from what JSON keeps of it.

    Raises
    ------
    ValueError
        If its parameters are others than those of the configuration that it should be like.
    """
    names = [field.name for field in dataclasses.fields(like)]
    if set(names) != set(plain):
        other = ", ".join(sorted(set(names) ^ set(plain)))
        message = f"results must be of this study with these parameters, got some that differ in {other}"
        raise ValueError(message)
    return type(like)(**{name: _restored(getattr(like, name), plain[name]) for name in names})


def _restored(like: Any, value: Any) -> Any:
    if dataclasses.is_dataclass(like) and isinstance(value, dict):
        return restored(like, value)
    return tuple(_restored(None, part) for part in value) if isinstance(value, list) else value
