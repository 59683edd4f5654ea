"""The folder of a study's results: written by one process, and read completely or not at all."""

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fedtheory._storage import files
from fedtheory._storage.netcdf import dataset_bytes, read_dataset
from fedtheory._support.wording import plain, truncate
from fedtheory.study._figures import figure_bytes, titled
from fedtheory.study._results import Finding, Result, Table

DATA, _TABLE, FINDINGS, _METADATA = "data.nc", "table.json", "findings.json", "metadata.json"
# Metadata without a form have this one, since earlier versions did not write it.
_FORM = "fedtheory study 1"


@dataclasses.dataclass(frozen=True)
class Folder:
    """Folder of a study's data, table, findings, figures, and metadata with their digests."""

    path: Path

    @contextlib.contextmanager
    def reserved(self, config: Mapping[str, Any], identity: str, *, force: bool) -> Iterator[None]:
        """Reserve the folder for this process until it has written; remove incomplete results of a killed process.

        FileExistsError, unless ``force``, if it contains other files than results of this configuration and these
        sources, or if another process has reserved it.
        """
        if not force:
            self._refuse_others(config, identity)
        with files.locked(self.path, "only one study may write into"):
            yield

    def write(self, result: Result, figures: Mapping[str, Callable[[Any], Any]]) -> Result:
        """Write the results of a study and its figures; return the results with the digests of the files."""
        content = {
            DATA: dataset_bytes(result.data),
            _TABLE: files.json_bytes(result.table._asdict()),
            FINDINGS: files.json_bytes({name: found._asdict() for name, found in result.findings.items()}),
            **_drawn(figures, result),
        }
        metadata = {"form": _FORM, **result.metadata}
        return result._replace(metadata=files.publish(self.path, content, _METADATA, metadata))

    def draw(self, figures: Mapping[str, Callable[[Any], Any]], result: Result) -> None:
        """Write the figures only."""
        self.path.mkdir(parents=True, exist_ok=True)
        for name, content in _drawn(figures, result).items():
            files.place(self.path / name, content)

    def read(self) -> Result:
        """Read the results again; ValueError if a file is missing or has changed."""
        try:
            metadata, content = files.published(self.path, _METADATA)
            for name in (DATA, _TABLE, FINDINGS):
                if name not in content:
                    message = f"{_METADATA}, which does not list {name}"
                    raise files.OtherFileError(message)
            _refuse_other_metadata(metadata)
            with _named(DATA):
                data = read_dataset(self.path / DATA)
            with _named(_TABLE):
                table = _table(files.parsed_json(content[_TABLE]))
            with _named(FINDINGS):
                findings = _findings(files.parsed_json(content[FINDINGS]))
        except FileNotFoundError as error:
            missing = Path(str(error.filename)).name
            message = f"{self.path} must hold the results of a study, got a folder in which {missing} is missing"
            raise ValueError(message) from error
        except files.OtherFileError as error:
            message = f"{self.path} must hold the results of a study, got {plain(str(error))}"
            raise ValueError(message) from error
        return Result(data, table, findings, metadata)

    def _refuse_others(self, config: Mapping[str, Any], identity: str) -> None:
        if not self.path.exists() or (self.path.is_dir() and self._is_unfinished()):
            return
        try:
            found = files.read_json(self.path / _METADATA)
            _refuse_other_metadata(found)
        except (OSError, ValueError):
            what = "something else"
        else:
            if found["config"] == config and found.get("identity") == identity:
                return
            same = found["config"] == config
            what = f"results of {'this configuration, by other sources' if same else 'another configuration'}"
        message = f"{self.path} contains {what}: choose another --out, or --force to overwrite"
        raise FileExistsError(message)

    def _is_unfinished(self) -> bool:
        """Whether the folder is empty, or contains the incomplete results of a killed study.

        All files are written under temporary names before the first is renamed, and the metadata are renamed last.
        """
        names = {path.name for path in self.path.iterdir()}
        hidden = {name for name in names if name == files.LOCK or (name.startswith(".") and name.endswith(".partial"))}
        last = any(name.startswith(f".{_METADATA}.") for name in hidden)
        return not names - hidden or (last and _METADATA not in names)


def _drawn(figures: Mapping[str, Callable[[Any], Any]], result: Result) -> dict[str, bytes]:
    """Return the contents of a PNG and a PDF file for each figure, by file name; the first finding is the title."""
    title = next((found.sentence for found in result.findings.values()), "")
    return {
        f"{name}.{kind}": picture
        for name, draw in figures.items()
        for kind, picture in figure_bytes(titled(draw(result.data), title), "png", "pdf").items()
    }


@contextlib.contextmanager
def _named(name: str) -> Iterator[None]:
    try:
        yield
    except files.OtherFileError as error:
        message = f"{name}, {error}"
        raise files.OtherFileError(message) from error


def _refuse_other_metadata(found: Any) -> None:
    """Raise OtherFileError unless the metadata have this form and the required entries."""
    form = found.get("form", _FORM) if isinstance(found, dict) else _FORM
    if form != _FORM:
        message = f"{_METADATA}, whose form is {truncate(form)}, and not {_FORM!r}"
        raise files.OtherFileError(message)
    seconds = found.get("seconds") if isinstance(found, dict) else None
    is_whole = (
        isinstance(seconds, dict)
        and isinstance(seconds.get("run"), int | float)
        and isinstance(found.get("study"), str)
        and isinstance(found.get("config"), dict)
        and isinstance(found.get("surroundings", {}), dict)
    )
    if not is_whole:
        message = f"{_METADATA}, which does not say what was run, in how many seconds and by which versions"
        raise files.OtherFileError(message)


def _table(found: Any) -> Table:
    rows = found.get("rows") if isinstance(found, dict) else None
    kinds = (str, bool, int, float, type(None))
    if (
        not isinstance(rows, list)
        or not all(isinstance(row, dict) and all(isinstance(v, kinds) for v in row.values()) for row in rows)
        or not all(isinstance(found.get(name, ""), str) for name in ("title", "caption"))
    ):
        message = "which is not a table of numbers and words"
        raise files.OtherFileError(message)
    again = [{name: files.number_of_word(value) for name, value in row.items()} for row in rows]
    return Table(again, found.get("title", ""), found.get("caption", ""))


def _findings(found: Any) -> dict[str, Finding]:
    wanted = {"sentence": str, "holds": bool, "detail": str}
    if not isinstance(found, dict) or not all(
        isinstance(one, dict)
        and set(one) == set(wanted)
        and all(isinstance(one[name], kind) for name, kind in wanted.items())
        for one in found.values()
    ):
        message = "which is not a list of findings"
        raise files.OtherFileError(message)
    return {name: Finding(**one) for name, one in found.items()}
