"""Common functions of study scripts: command line, progress, findings, table, and output files.

A study has a frozen configuration and a function that computes data. Figures, table rows and findings are computed
from these data, so that stored results can be displayed again. A script ends with::

    STUDY = study.Study(name="my_study", config=Config(), quick=Config(num_rounds=20), run=run, ...)

    if __name__ == "__main__":
        study.main(STUDY)
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import io
import os
import sys
import textwrap
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar

from fedtheory._storage.files import as_path, json_bytes, parsed_json
from fedtheory._storage.identity import source_digest
from fedtheory._storage.provenance import provenance
from fedtheory._support.console import first_sentence, say, show_table, warn
from fedtheory._support.progress import followed
from fedtheory._support.streams import check_stdout, flush_stdout, to_devnull
from fedtheory._support.streams import sentence as of_system
from fedtheory._support.wording import truncate
from fedtheory.study._folder import Folder
from fedtheory.study._results import Finding, Result, Table, from_records

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset

__all__ = ["Finding", "Progress", "Study", "Table", "from_records", "load", "main", "produce", "silent"]

_REPORTED = ("xarray", "matplotlib")

Item = TypeVar("Item")


class Progress(Protocol):
    """Progress display of a study's ``run``: wraps a loop over the long computation."""

    def __call__(self, items: Iterable[Item], description: str) -> Iterator[Item]:
        """Yield the items, showing how many are done."""


def silent(items: Iterable[Item], description: str) -> Iterator[Item]:  # noqa: ARG001
    """Yield the items without a progress display.

    >>> list(silent([2, 3], "primes"))
    [2, 3]
    """
    return iter(items)


@dataclass(frozen=True)
class Study:
    """A study: two configurations (full size and quick) and the functions that compute and display its results.

    Attributes
    ----------
    name
        File name of the script without ``.py``; results are written to ``results/NAME``.
    config, quick
        Frozen dataclasses of parameters: the full study, and one that takes seconds. A field ``seed`` is the entropy.
    run
        Function of a configuration and a `Progress` that returns an `xarray.Dataset` and prints nothing.
    table
        Function of the data that returns a `Table`.
    findings
        Function of the data that returns a `Finding` for every name. The first one is the title of the figures. A
        finding that does not hold ends the study with exit code 1. If data of a small size cannot show something, the
        function leaves it out.
    figures
        Functions from the data to a matplotlib figure without a title, by file name.
    """

    name: str
    config: Any
    quick: Any
    run: Callable[[Any, Progress], Dataset]
    table: Callable[[Dataset], Table]
    findings: Callable[[Dataset], Mapping[str, Finding]]
    figures: Mapping[str, Callable[[Dataset], Figure]] = field(default_factory=dict)


def main(study: Study, argv: Sequence[str] | None = None) -> None:
    """Run a study from its command line, print its table and its findings, and write its files.

    Exits with 1 if a finding does not hold, with 2 and one line for wrong usage or bad input, and with 130 on Ctrl-C.
    ``--debug`` prints the traceback of an error. ``--show FOLDER`` prints stored results and writes their figures, to
    ``--out`` or a separate folder.

    >>> main(Study("sums", None, None, None, None, None), ["--unknown"])
    Traceback (most recent call last):
    SystemExit: 2
    """
    words = sys.argv[1:] if argv is None else argv
    try:
        check_stdout()
        try:
            code = _do(study, words)
        finally:
            flush_stdout()  # also after --help, which exits with SystemExit
    except KeyboardInterrupt:
        _complain(study, "interrupted")
        code = 130
    except (ValueError, OSError) as error:
        if "--debug" in words:
            traceback.print_exc()
        message = str(error)
        if isinstance(error, OSError):
            to_devnull()  # buffered output for a full disk would be written again at exit
            message = of_system(error) if error.filename is None else message
        _complain(study, " ".join(message.split()))
        code = 2
    if code:
        sys.exit(code)


def produce(
    study: Study, config: Any, folder: str | os.PathLike[str], *, progress: Progress = silent, force: bool = False
) -> Result:
    """Run a study with one configuration and write its results into a folder; the figures remain open.

    FileExistsError if the folder contains other files than results of this configuration and these sources (of the
    study, its imported modules and fedtheory), unless ``force``, or if another process is writing into it.

    >>> import tempfile
    >>> from dataclasses import make_dataclass
    >>> Size = make_dataclass("Size", [("terms", int, 3)], frozen=True)
    >>> def sevens(size, progress):
    ...     return from_records([{"term": 7.0 * i} for i in progress(range(1, size.terms + 1), "terms")])
    >>> table = lambda data: Table([{"sum": float(data["term"].sum())}])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = produce(Study("sums", Size(), Size(2), sevens, table, lambda data: {}), Size(4), folder)
    ...     load(folder).table.rows, sorted(found.metadata["files"])
    ([{'sum': 70.0}], ['data.nc', 'findings.json', 'table.json'])
    """
    plain, place = plain_config(config), Folder(as_path("folder", folder))
    identity = source_digest(study.run)
    with place.reserved(plain, identity, force=force):
        if progress is not silent:
            _complain(study, f"runs, and writes its results to {folder}")
        start = time.perf_counter()
        data = study.run(config, progress)
        metadata = {
            "study": study.name,
            "identity": identity,
            "config": plain,
            "seed_entropy": plain.get("seed"),
            "seconds": {"run": round(time.perf_counter() - start, 3)},
            "surroundings": provenance(*_REPORTED),
        }
        return place.write(Result(data, study.table(data), study.findings(data), metadata), study.figures)


def load(folder: str | os.PathLike[str]) -> Result:
    """Read the stored results of a study; ValueError if a file is missing or has changed.

    >>> load("elsewhere")
    Traceback (most recent call last):
    ValueError: elsewhere must hold the results of a study, got a folder in which metadata.json is missing
    """
    return Folder(as_path("folder", folder)).read()


def plain_config(config: Any) -> dict[str, Any]:
    """Return a configuration as JSON data."""
    plain: dict[str, Any] = parsed_json(json_bytes(dataclasses.asdict(config)))
    return plain


def _do(study: Study, argv: Sequence[str]) -> int:
    """Run, or show stored results, as the command line requires; return the exit code."""
    options = _parsed(study, argv)
    kind = "shown" if options.shown else "quick" if options.quick else ""
    folder = options.out or _default_folder(study.name, kind)
    if options.shown:
        stored = load(options.shown)
        if stored.metadata["study"] != study.name:
            message = f"--show must name results of {study.name}, got those of {truncate(stored.metadata['study'])}"
            raise ValueError(message)
        result = stored._replace(table=study.table(stored.data), findings=study.findings(stored.data))
        Folder(folder).draw(study.figures, result)
        end = f"figures in {folder}"
    else:
        result = produce(study, options.config, folder, progress=followed, force=options.force)
        end = f"results in {folder} ({result.metadata['seconds']['run']:.1f} s)"
    failed = _show(study, result)
    say(end, *(f"figure: {folder / name}.png" for name in study.figures))
    return 1 if failed else 0


def _parsed(study: Study, argv: Sequence[str]) -> Any:
    """Return the options of a command line, including the configuration; ValueError for wrong usage."""
    import tyro

    default = study.quick if "--quick" in argv else study.config
    options, complaint = _options(study, type(default)), io.StringIO()
    try:
        with contextlib.redirect_stderr(complaint):
            found = tyro.cli(
                options,
                args=list(argv),
                default=options(default),
                prog=f"{study.name}.py",
                description=(inspect.getdoc(type(default)) or "").split("\n\n")[0],
                config=(tyro.conf.FlagCreatePairsOff,),
            )
    except SystemExit as stop:
        if stop.code:
            raise ValueError(first_sentence(complaint.getvalue())) from None
        raise
    if found.shown:
        if found.config != default or found.quick or found.force:
            message = "--show shows results as they are, got other parameters as well"
            raise ValueError(message)
        if found.out and found.out.resolve() == found.shown.resolve():
            message = f"--out must be another folder than that of --show, got {found.out}"
            raise ValueError(message)
    return found


def _options(study: Study, kind: type) -> Any:
    """Create the class of a study's options, from which the parser takes names, types and help."""
    import tyro

    def option(kind: Any, text: str, name: str | None = None) -> Any:
        return Annotated[kind, tyro.conf.arg(help=text, name=name)]

    folder = _default_folder(study.name)
    return dataclasses.make_dataclass(
        "Options",
        [
            ("config", Annotated[kind, tyro.conf.arg(name="")]),
            ("quick", option(bool, "Start from the small size, which takes seconds."), False),
            (
                "out",
                option(Path | None, f"Folder for the results (default: {folder}, {folder}-quick or -shown)."),
                None,
            ),
            ("force", option(bool, "Overwrite results of another configuration."), False),
            ("shown", option(Path | None, "Show these results again and write their figures.", "show"), None),
            ("debug", option(bool, "Show the traceback of an error."), False),
        ],
    )


def _default_folder(name: str, kind: str = "") -> Path:
    """Return the default folder of results; small sizes and figures of stored results have separate folders."""
    return Path("results", f"{name}-{kind}" if kind else name)


def _show(study: Study, result: Result) -> int:
    """Print the table and the findings; return the number of findings that do not hold."""
    show_table(*result.table)
    found, failed = result.findings.values(), [one for one in result.findings.values() if not one.holds]
    say("", *(line for one in found for line in textwrap.wrap(f"- {one.sentence}", 80, subsequent_indent="  ")), "")
    _complain(study, *(f"does not hold: {one.sentence} {one.detail}".rstrip() for one in failed))
    say(f"{len(found) - len(failed)} of {len(found)} findings hold", end="; ")
    return len(failed)


def _complain(study: Study, *messages: str) -> None:
    warn(*(f"{study.name}: {message}" for message in messages))
