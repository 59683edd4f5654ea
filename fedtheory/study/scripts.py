"""What every study script shares: its command line, progress, checks, table, and the files it leaves behind.

A study is a question with a frozen configuration and a function that answers it with data. Everything else, figures,
table rows and checks, is made from those data, so that stored results can be drawn again. A script ends with::

    STUDY = study.Study(name="my_question", config=Config(), quick=Config(num_rounds=20), run=run, ...)

    if __name__ == "__main__":
        study.main(STUDY)
"""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from fedtheory._storage.provenance import changes, surroundings
from fedtheory._support.console import live_progress, say
from fedtheory._support.streams import flushed, nowhere, opened
from fedtheory._support.streams import sentence as of_system
from fedtheory.study._arguments import complain, default_folder, parse, tell
from fedtheory.study._folder import plain_config, read, reserved, save_figure, unlike_data, write
from fedtheory.study._records import from_records

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

_REPORTED = ("xarray", "h5netcdf", "matplotlib")

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

    Exits with 1 when a check fails, with 2 and one line on wrong usage or bad input, with 130 on Ctrl-C. ``--debug``
    shows where a complaint comes from; ``--from FOLDER`` answers the question of stored results again and compares;
    ``--show FOLDER`` draws them again.

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

    Examples
    --------
    At the small size the sum is 7 + 14.

    >>> import tempfile
    >>> from dataclasses import make_dataclass
    >>> Size = make_dataclass("Size", [("terms", int, 3)], frozen=True)
    >>> def sevens(size, progress):
    ...     return from_records([{"term": 7.0 * i} for i in progress(range(1, size.terms + 1), "terms")])
    >>> def table(data):
    ...     return Table([{"sum": float(data["term"].sum())}])
    >>> sums = Study("sums", Size(), Size(2), sevens, table, lambda data: {"one": Check(data["term"][0] == 7, "")})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     main(sums, ["--quick", "--output", folder])  # doctest: +ELLIPSIS
    sum
     21
    1 of 1 checks hold; results in ... s)
    """
    words = sys.argv[1:] if argv is None else argv
    try:
        opened()
        try:
            code = _command(study, words)
        finally:
            flushed()  # after --help, too, which leaves with SystemExit
    except KeyboardInterrupt:
        complain(study, "interrupted")
        code = 130
    except (ValueError, OSError) as error:
        if "--debug" in words:
            traceback.print_exc()
        told = str(error)
        if isinstance(error, OSError):
            nowhere()  # what is left for a full disk would be written again at the end
            told = of_system(error) if error.filename is None else told
        complain(study, " ".join(told.split()))
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
        If the folder holds something else than results of this configuration, unless ``force``, or another process is
        about to write into it.

    Examples
    --------
    >>> import tempfile
    >>> from dataclasses import make_dataclass
    >>> Size = make_dataclass("Size", [("terms", int, 3)], frozen=True)
    >>> def sevens(size, progress):
    ...     return from_records([{"term": 7.0 * i} for i in progress(range(1, size.terms + 1), "terms")])
    >>> table = lambda data: Table([{"sum": float(data["term"].sum())}])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = produce(Study("sums", Size(), Size(2), sevens, table, lambda data: {}), Size(4), folder)
    ...     load(folder).table.rows, sorted(found.metadata["files"])
    ([{'sum': 70.0}], ['checks.json', 'data.nc', 'table.json'])
    """
    with reserved(Path(folder), plain_config(config), force=force):
        result = _answer(study, config, progress)
        return result._replace(metadata=write(Path(folder), result, study.figures))


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
        If a file is missing or differs from the one the study wrote.

    Examples
    --------
    >>> load("elsewhere")
    Traceback (most recent call last):
    ValueError: elsewhere must hold the results of a study, got a folder in which metadata.json is missing
    """
    data, table, checks, metadata = read(Path(folder))
    return Result(data, Table(**table), {name: Check(**check) for name, check in checks.items()}, metadata)


def _command(study: Study, argv: Sequence[str]) -> int:
    options = parse(study, argv)
    if options.again is not None:
        return _again(study, options)
    if options.shown is not None:
        return _redraw(study, options.shown)
    folder = options.output or default_folder(study.name, quick=options.quick)
    with live_progress() as progress:
        result = produce(study, options.config, folder, progress=progress, force=options.force)
    failed = tell(study, result)
    say(f"results in {folder} ({result.metadata['seconds']['run']:.1f} s)")
    return 1 if failed else 0


def _again(study: Study, options: Any) -> int:
    """Answer the question of stored results again, write nothing, and say what differs."""
    saved = load(options.again)
    with live_progress() as progress:
        result = _answer(study, options.config, progress)
    failed = tell(study, result)
    found = unlike_data(saved.data, result.data)
    for sentence in (*found, *changes(saved.metadata.get("surroundings", {}), result.metadata["surroundings"])):
        complain(study, sentence)
    say(f"{'other' if found else 'the same'} data as in {options.again}")
    return 1 if failed or found else 0


def _redraw(study: Study, folder: Path) -> int:
    """Show stored results as today's table, checks and figures have them; figures are left open."""
    stored = load(folder)
    for draw in study.figures.values():
        draw(stored.data)
    failed = tell(study, stored._replace(table=study.table(stored.data), checks=study.checks(stored.data)))
    say(f"computed in {stored.metadata['seconds']['run']:.1f} s, stored in {folder}")
    return 1 if failed else 0


def _answer(study: Study, config: Any, progress: Progress) -> Result:
    start = time.perf_counter()
    data = study.run(config, progress)
    plain = plain_config(config)
    metadata = {
        "study": study.name,
        "config": plain,
        "seed_entropy": plain.get("seed"),
        "seconds": {"run": round(time.perf_counter() - start, 3)},
        "surroundings": surroundings(*_REPORTED),
    }
    return Result(data, study.table(data), study.checks(data), metadata)
