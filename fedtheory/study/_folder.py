"""The folder of a study's results: one process writes into it, and it is read back whole or refused."""

import contextlib
import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fedtheory._storage import files
from fedtheory._storage.netcdf import netcdf_bytes, netcdf_data
from fedtheory.study._figures import figure_bytes
from fedtheory.study._results import Check, Result, Table

__all__ = ["DATA", "Folder"]

DATA, _TABLE, _CHECKS, _METADATA = "data.nc", "table.json", "checks.json", "metadata.json"


@dataclasses.dataclass(frozen=True)
class Folder:
    """Where a study keeps its data, table, checks and figures, and the metadata, which hold digests of the others."""

    path: Path

    @contextlib.contextmanager
    def reserved(self, config: Mapping[str, Any], *, force: bool) -> Iterator[None]:
        """Keep the folder for this process while it answers and writes; what a killed one left half written is removed.

        Raises
        ------
        FileExistsError
            If it holds others than results of this configuration, unless ``force``, or another process keeps it.
        """
        if not force:
            self._refuse_others(config)
        with files.locked(self.path, "only one study may write into"):
            yield

    def write(
        self, result: Result, figures: Mapping[str, Callable[[Any], Any]], encoding: Mapping[str, Any] | None = None
    ) -> Result:
        """Write what a study found, and its figures; return it with the digests of the files in its metadata."""
        content = {
            DATA: netcdf_bytes(result.data, encoding=encoding),
            _TABLE: files.json_bytes(result.table._asdict()),
            _CHECKS: files.json_bytes({name: check._asdict() for name, check in result.checks.items()}),
            **_drawn(figures, result.data),
        }
        return result._replace(metadata=files.publish(self.path, content, _METADATA, result.metadata))

    def draw(self, figures: Mapping[str, Callable[[Any], Any]], data: Any) -> None:
        """Write figures alone."""
        self.path.mkdir(parents=True, exist_ok=True)
        for name, content in _drawn(figures, data).items():
            files.place(self.path / name, content)

    def read(self) -> Result:
        """Return what was written.

        Raises
        ------
        ValueError
            If something is missing in the folder, or not what it was.
        """
        try:
            metadata, content = files.published(self.path, _METADATA)
            data = netcdf_data(content[DATA])
            table, checks = json.loads(content[_TABLE]), json.loads(content[_CHECKS])
            return Result(data, Table(**table), {name: Check(**check) for name, check in checks.items()}, metadata)
        except FileNotFoundError as error:
            missing = Path(str(error.filename)).name
            message = f"{self.path} must hold the results of a study, got a folder in which {missing} is missing"
            raise ValueError(message) from error
        except files.OtherFileError as error:
            message = f"{self.path} must hold the results of a study, got a {DATA}, {error}"
            raise ValueError(message) from error
        except (KeyError, TypeError, json.JSONDecodeError) as error:
            message = f"{self.path} must hold the results of a study, got a {_METADATA} that cannot be read"
            raise ValueError(message) from error

    def _refuse_others(self, wanted: Mapping[str, Any]) -> None:
        if not self.path.exists() or (self.path.is_dir() and self._is_unfinished()):
            return
        try:
            found = files.read_json(self.path / _METADATA)["config"]
        except (OSError, ValueError, KeyError, TypeError):
            found = None
        if found != wanted:
            what = "something else" if found is None else "results of another configuration"
            message = f"{self.path} holds {what}: choose another --out, or --force to overwrite"
            raise FileExistsError(message)

    def _is_unfinished(self) -> bool:
        """Whether there are no files, or what a study left that was killed before it had written all of them.

        All are written under other names before the first gets its own, and the metadata come last.
        """
        names = {path.name for path in self.path.iterdir()}
        hidden = {name for name in names if name == files.LOCK or (name.startswith(".") and name.endswith(".partial"))}
        last = any(name.startswith(f".{_METADATA}.") for name in hidden)
        return not names - hidden or (last and _METADATA not in names)


def _drawn(figures: Mapping[str, Callable[[Any], Any]], data: Any) -> dict[str, bytes]:
    """Return the contents of a PNG and a PDF file for each figure, by their names."""
    return {
        f"{name}.{kind}": picture
        for name, draw in figures.items()
        for kind, picture in figure_bytes(draw(data), "png", "pdf").items()
    }
