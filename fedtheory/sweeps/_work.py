"""What is run at a point of the grid: a function, a study, or the study of a file; and running it, wherever that is."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from fedtheory._storage.provenance import made_by
from fedtheory.study import Study, silent
from fedtheory.sweeps._grid import Grid, canonical
from fedtheory.sweeps._outcomes import Outcome, Variable, variables_of

__all__ = ["FileWork", "FunctionWork", "StudyWork", "Work", "read_study", "work_of"]


@dataclass(frozen=True)
class FunctionWork:
    """Call a function with the settings of the point by name, and with ``seed``."""

    function: Callable[..., Any]

    def __call__(self, point: Mapping[str, Any], seed: int | None) -> dict[str, Variable]:
        """Return what it found."""
        return variables_of(self.function(**point, **({} if seed is None else {"seed": seed})))

    @property
    def identity(self) -> dict[str, Any]:
        """What it is called, with the arguments that are fixed."""
        function, fixed = self.function, {}
        if isinstance(function, partial):
            fixed = {**{f"argument {i}": value for i, value in enumerate(function.args)}, **function.keywords}
            function = function.func
        named = function if inspect.isroutine(function) or isinstance(function, type) else type(function)
        return {"name": f"{named.__module__}:{named.__qualname__}", "fixed": canonical(fixed, "partial")}

    @property
    def source(self) -> str:
        """Digest of its source, empty if that is not to be had."""
        function = self.function.func if isinstance(self.function, partial) else self.function
        named = function if inspect.isroutine(function) or isinstance(function, type) else type(function)
        try:
            return _digest(inspect.getsource(named).encode())
        except (OSError, TypeError):
            return ""

    def refuse(self, grid: Grid) -> None:
        """Raise TypeError unless the function takes what the grid gives."""
        given = dict.fromkeys(grid.dims)
        try:
            inspect.signature(self.function).bind(**given)
        except TypeError as error:
            message = f"the function must take {', '.join(given) or 'no arguments'} by name, got {error}"
            raise TypeError(message) from None


@dataclass(frozen=True)
class StudyWork:
    """Run a study with fields of its configuration replaced, and look at its checks."""

    study: Study
    config: Any

    def __call__(self, point: Mapping[str, Any], seed: int | None) -> dict[str, Variable]:
        """Return its data, for each of its checks (``check``) whether it ``holds``, and how many do not."""
        config = replace(self.config, **point, **({} if seed is None else {"seed": seed}))
        data = self.study.run(config, silent)
        checks = self.study.checks(data)
        found: dict[str, list[Any]] = {"check": list(checks), "holds": [check.holds for check in checks.values()]}
        labelled = {name: Variable(("check",), value.values) for name, value in variables_of(found).items()}
        return {**variables_of(data), **labelled, **variables_of({"checks_failed": found["holds"].count(False)})}

    @property
    def identity(self) -> dict[str, Any]:
        """What the study is called, and what its configuration is where the grid does not set it."""
        return {"name": f"study {self.study.name}", "fixed": canonical(self.config, "config")}

    @property
    def source(self) -> str:
        """Digest of the source of the file that it is in, empty if that is not to be had."""
        try:
            return _digest(Path(inspect.getfile(self.study.run)).read_bytes())
        except (OSError, TypeError):
            return ""

    def refuse(self, grid: Grid) -> None:
        """Raise ValueError unless the configuration has what the grid sets."""
        known = [field.name for field in fields(self.config)]
        for name in grid.dims:
            if name not in known:
                message = f"the grid must set parameters of {self.study.name} ({', '.join(known)}), got {name}"
                raise ValueError(message)


@dataclass(frozen=True)
class FileWork:
    """Run the study of a file, which a worker reads for itself; it must be the file of that digest."""

    path: str
    source: str
    quick: bool

    def __call__(self, point: Mapping[str, Any], seed: int | None) -> dict[str, Variable]:
        """Return what the study does."""
        return self.opened()(point, seed)

    def opened(self) -> StudyWork:
        """Return the study as it is here."""
        study = read_study(self.path)
        return StudyWork(study, study.quick if self.quick else study.config)

    @property
    def identity(self) -> dict[str, Any]:
        """What the study is called, and what its configuration is where the grid does not set it."""
        return self.opened().identity

    def refuse(self, grid: Grid) -> None:
        """Raise ValueError unless the configuration has what the grid sets."""
        self.opened().refuse(grid)


Work = FunctionWork | StudyWork | FileWork


def work_of(function_or_study: Any, *, quick: bool = False) -> Work:
    """Return what is to be run: a function, a `Study`, or the study in a file (with its small size if asked).

    Examples
    --------
    >>> work_of(lambda d: 2.0 * d)({"d": 3}, None)["value"].values
    array(6.)
    """
    if isinstance(function_or_study, Study):
        return StudyWork(function_or_study, function_or_study.quick if quick else function_or_study.config)
    if isinstance(function_or_study, str | Path):
        path = Path(function_or_study)
        if not path.is_file():
            message = f"a study must be a Python file, got {path}"
            raise ValueError(message)
        return FileWork(str(path.resolve()), _digest(path.read_bytes()), quick)
    if not callable(function_or_study):
        message = f"what is swept must be a function or a study, got {type(function_or_study).__name__}"
        raise TypeError(message)
    return FunctionWork(function_or_study)


@lru_cache(maxsize=8)
def read_study(path: str) -> Study:
    """Run a script as a module and return its ``STUDY``; what stands beside it can be imported.

    Examples
    --------
    >>> import tempfile
    >>> text = "from fedtheory.study import Study; STUDY = Study('empty', None, None, None, None, None)"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "empty.py").write_text(text)
    ...     read_study(str(Path(folder, "empty.py"))).name
    'empty'
    """
    name, folder = f"swept_{Path(path).stem}", str(Path(path).parent)
    specification = importlib.util.spec_from_file_location(name, path)
    if specification is None or specification.loader is None:
        message = f"a study must be a Python file, got {path}"
        raise ValueError(message)
    module = importlib.util.module_from_spec(specification)
    # A dataclass looks its module up while it is being made.
    sys.modules[name] = module
    if folder not in sys.path:
        sys.path.append(folder)
    try:
        specification.loader.exec_module(module)
    except Exception as error:  # whatever somebody's file raises
        message = f"a study must be in a file that runs, got {path}, which raises {_told(error)}"
        raise ValueError(message) from error
    study = getattr(module, "STUDY", None)
    if not isinstance(study, Study):
        message = f"a study's file must have a STUDY, got none in {path}"
        raise ValueError(message)
    return study


def attempt(work: Work | bytes, point: Mapping[str, Any], seed: int | None, expected: str) -> Outcome:
    """Run one configuration, and report whatever happens; a pickled work is unpacked first.

    The worker refuses if its version of fedtheory, or its study's file, is not the one that is expected.

    Examples
    --------
    >>> from fedtheory._storage.provenance import made_by
    >>> attempt(work_of(lambda d, seed: 2.0 * d + seed), {"d": 3}, 7, made_by()).variables["value"].values
    array(13.)
    """
    if expected != made_by():
        return Outcome(refused=f"workers must have fedtheory {expected}, got one with {made_by()}")
    try:
        unpacked = _unpacked(work) if isinstance(work, bytes) else work
        if isinstance(unpacked, FileWork) and _file_digest(unpacked.path) != unpacked.source:
            return Outcome(refused=f"workers must have the same file {unpacked.path}, got one with another")
    except Exception as error:  # whatever an import raises
        return Outcome(refused=f"workers must be able to import what is swept, got one without: {_told(error)}")
    start = time.perf_counter()
    try:
        variables = unpacked(point, seed)
    except Exception as error:  # recorded; the sweep goes on
        taken = time.perf_counter() - start
        # The frames above are the sweep's own, which differ among backends.
        own = traceback.TracebackException.from_exception(error)
        return Outcome(error=_told(error), traceback="".join(own.format()), seconds=taken, made_by=expected)
    return Outcome(variables, seconds=time.perf_counter() - start, made_by=expected)


@lru_cache(maxsize=8)
def _unpacked(pickled: bytes) -> Work:
    import pickle

    work: Work = pickle.loads(pickled)  # from this program's parent, never from a file
    return work


@lru_cache(maxsize=8)
def _file_digest(path: str) -> str:
    return _digest(Path(path).read_bytes())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _told(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
