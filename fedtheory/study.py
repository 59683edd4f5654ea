"""What every study script shares: its command line, progress, checks, table, and the files it leaves behind.

A study is a question with a frozen configuration and a function that answers it with data. Everything else, figures,
table rows and checks, is made from those data, so that stored results can be drawn again. A script ends with::

    STUDY = study.Study(name="my_question", config=Config(), quick=Config(num_rounds=20), run=run, ...)

    if __name__ == "__main__":
        study.main(STUDY)
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import io
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Protocol, TypeVar

from fedtheory._console import first_sentence, live_progress, show_table
from fedtheory._files import Writer, json_writer, publish, read_json, same_files

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset

__all__ = [
    "Check",
    "Progress",
    "Result",
    "Study",
    "Table",
    "from_records",
    "load",
    "main",
    "produce",
    "save_figure",
    "silent",
]

_DATA, _TABLE, _CHECKS, _METADATA = "data.nc", "table.json", "checks.json", "metadata.json"
_REPORTED = ("fedtheory", "numpy", "scipy", "numba", "xarray", "h5netcdf", "matplotlib")

Item = TypeVar("Item")


class Progress(Protocol):
    """What a study's ``run`` reports its progress to: it wraps a loop over the long work."""

    def __call__(self, items: Iterable[Item], description: str) -> Iterator[Item]:
        """Yield the items, showing how many are done."""


def silent(items: Iterable[Item], description: str) -> Iterator[Item]:  # noqa: ARG001
    """Yield the items and show nothing.

    Parameters
    ----------
    items
        Anything that can be gone through.
    description
        Not looked at.

    Returns
    -------
    Iterator[Item]
        The items, one by one.

    Examples
    --------
    >>> list(silent([2, 3], "primes"))
    [2, 3]
    """
    return iter(items)


class Check(NamedTuple):
    """Whether something that the study must show came out, and the numbers that say so."""

    holds: bool
    detail: str


class Table(NamedTuple):
    """Rows of one table: mappings from column title (with its unit) to a number or a word."""

    rows: Sequence[Mapping[str, Any]]
    title: str = ""
    caption: str = ""


@dataclass(frozen=True)
class Study:
    """A question, at two sizes, with the functions that answer and show it.

    Attributes
    ----------
    name
        The script's file name without ``.py``; results go to ``results/NAME``.
    config, quick
        Frozen dataclass of parameters: the full study, and one that takes seconds. A field ``seed`` holds the entropy.
    run
        Takes a configuration and a `Progress`, returns an `xarray.Dataset`, prints nothing.
    table, checks
        Take the data; return a `Table`, and a `Check` for every name.
    figures
        For every file name, a function from the data to a matplotlib figure.
    """

    name: str
    config: Any
    quick: Any
    run: Callable[[Any, Progress], Dataset]
    table: Callable[[Dataset], Table]
    checks: Callable[[Dataset], Mapping[str, Check]]
    figures: Mapping[str, Callable[[Dataset], Figure]] = field(default_factory=dict)


class Result(NamedTuple):
    """What a study found, as it was computed or as it was read back from its folder."""

    data: Dataset
    table: Table
    checks: Mapping[str, Check]
    metadata: Mapping[str, Any]


def main(study: Study, argv: Sequence[str] | None = None) -> None:
    """Run a study from its command line, print its table, and write its files.

    Exits with 1 when a check fails, with 2 and one line on wrong usage or bad input, with 130 on Ctrl-C.

    Parameters
    ----------
    study
        What to run.
    argv
        The words of the command line; those of the process by default.

    Raises
    ------
    SystemExit
        With the exit code, if that is not 0.
    """
    try:
        code = _command(study, sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:
        _complain(study, "interrupted")
        code = 130
    except (ValueError, OSError) as error:
        _complain(study, " ".join(str(error).split()))
        code = 2
    if code:
        sys.exit(code)


def produce(
    study: Study, config: Any, folder: str | os.PathLike[str], *, progress: Progress = silent, force: bool = False
) -> Result:
    """Run a study with one configuration and write its results into a folder.

    Figures are left open for the caller to show or close.

    Parameters
    ----------
    study
        What to run.
    config
        An instance of its configuration.
    folder
        Where data, table, checks, figures and metadata go.
    progress
        Shows how far it is.
    force
        Whether to write over other results.

    Returns
    -------
    Result
        What was written.

    Raises
    ------
    FileExistsError
        If the folder holds something else than results of this configuration, unless ``force``.
    """
    folder = Path(folder)
    wanted = _plain(config)
    if not force:
        _refuse_foreign(folder, wanted)
    folder.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    data = study.run(config, progress)
    seconds = time.perf_counter() - start
    metadata = {
        "study": study.name,
        "config": wanted,
        "seed_entropy": wanted.get("seed"),
        "seconds": {"run": round(seconds, 3)},
        "versions": _versions(),
    }
    result = Result(data, study.table(data), study.checks(data), metadata)
    return result._replace(metadata=_write(study, result, folder))


def load(folder: str | os.PathLike[str]) -> Result:
    """Read the results of a study again.

    Parameters
    ----------
    folder
        Where a study wrote its results.

    Returns
    -------
    Result
        Data, table, checks and metadata, as they were.

    Raises
    ------
    ValueError
        If a file differs from the one the study wrote.
    """
    import xarray

    folder = Path(folder)
    metadata = read_json(folder / _METADATA)
    same_files(folder, metadata["files"])
    data = xarray.load_dataset(folder / _DATA, engine="h5netcdf")
    table = Table(**read_json(folder / _TABLE))
    checks = {name: Check(**check) for name, check in read_json(folder / _CHECKS).items()}
    return Result(data, table, checks, metadata)


def save_figure(figure: Figure, path: Path, kind: str) -> None:
    """Write a figure as ``png`` or ``pdf``; the same figure makes the same bytes, whatever the date.

    Parameters
    ----------
    figure
        A figure of matplotlib.
    path
        The file.
    kind
        ``png`` or ``pdf``.
    """
    undated: dict[str, Any] = {"png": {"Software": None}, "pdf": {"CreationDate": None}}[kind]
    figure.savefig(path, format=kind, dpi=160, metadata=undated)


def from_records(records: Sequence[Mapping[str, Any]]) -> Dataset:
    """Turn flat records with the same keys into a Dataset with the one dimension ``row``.

    Parameters
    ----------
    records
        At least one; values are numbers or words.

    Returns
    -------
    Dataset
        A variable for each key.

    Examples
    --------
    >>> from_records([{"peer": "loop", "ratio": 200.0}, {"peer": "batched", "ratio": 9.5}])["ratio"].values
    array([200. ,   9.5])
    """
    import xarray

    return xarray.Dataset({name: ("row", [record[name] for record in records]) for name in records[0]})


def _command(study: Study, argv: Sequence[str]) -> int:
    options = _parse(study, argv)
    folder = options.output or Path("results", study.name)
    with live_progress() as progress:
        result = produce(study, options.config, folder, progress=progress, force=options.force)
    show_table(*result.table)
    failed = {name: check for name, check in result.checks.items() if not check.holds}
    for name, check in failed.items():
        _complain(study, f"check failed: {name}: {check.detail}")
    held = f"{len(result.checks) - len(failed)} of {len(result.checks)} checks hold"
    print(f"{held}; results in {folder} ({result.metadata['seconds']['run']:.1f} s)")  # noqa: T201
    return 1 if failed else 0


def _parse(study: Study, argv: Sequence[str]) -> Any:
    import tyro

    default = study.quick if "--quick" in argv else study.config
    complaint = io.StringIO()
    command = dataclasses.make_dataclass(
        "Command",
        [
            ("config", Annotated[type(default), tyro.conf.arg(name="")]),
            ("quick", _option(bool, "Start from the small size, which takes seconds."), False),
            ("output", _option(Path | None, f"Folder for the results (default: results/{study.name})."), None),
            ("force", _option(bool, "Overwrite results of another configuration."), False),
        ],
    )
    try:
        with contextlib.redirect_stderr(complaint):
            return tyro.cli(
                command,
                args=list(argv),
                default=command(default),
                prog=f"{study.name}.py",
                description=(inspect.getdoc(type(default)) or "").split("\n\n")[0],
                config=(tyro.conf.FlagCreatePairsOff,),
            )
    except SystemExit as stop:
        if stop.code:
            raise ValueError(first_sentence(complaint.getvalue())) from None
        raise


def _option(kind: Any, text: str) -> Any:
    import tyro

    return Annotated[kind, tyro.conf.arg(help=text)]


def _complain(study: Study, message: str) -> None:
    print(f"{study.name}: {message}", file=sys.stderr)  # noqa: T201


def _plain(config: Any) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(config)))
    return plain


def _refuse_foreign(folder: Path, wanted: Mapping[str, Any]) -> None:
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    try:
        found = read_json(folder / _METADATA)["config"]
    except (OSError, ValueError, KeyError, TypeError):
        found = None
    if found != wanted:
        what = "something else" if found is None else "results of another configuration"
        message = f"{folder} holds {what}: choose another --output, or --force to overwrite"
        raise FileExistsError(message)


def _versions() -> dict[str, str]:
    return {"python": platform.python_version(), **{name: version(name) for name in _REPORTED}}


def _write(study: Study, result: Result, folder: Path) -> dict[str, Any]:
    writers: dict[str, Writer] = {
        _DATA: lambda path: result.data.to_netcdf(path, engine="h5netcdf"),
        _TABLE: json_writer(result.table._asdict()),
        _CHECKS: json_writer({name: check._asdict() for name, check in result.checks.items()}),
    }
    for name, draw in study.figures.items():
        figure = draw(result.data)
        writers |= {f"{name}.{kind}": partial(save_figure, figure, kind=kind) for kind in ("png", "pdf")}
    return publish(folder, writers, _METADATA, result.metadata)
