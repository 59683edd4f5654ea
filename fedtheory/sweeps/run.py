"""Evaluation of a function or a study on a grid, with joblib and resume.

A result is stored under the identity of its inputs: the function with its sources, the values of the point, the seed,
and versions. It is only read for the same identity.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import itertools
import json
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from fedtheory._storage import files
from fedtheory._storage.identity import UnidentifiedError, identities
from fedtheory._storage.netcdf import file_bytes, read_file
from fedtheory._support import validate
from fedtheory._support.console import warn
from fedtheory._support.progress import reported, unannounced
from fedtheory._support.streams import block_sigint
from fedtheory._support.wording import plain, truncate
from fedtheory.study import Study, read_study, silent
from fedtheory.sweeps._grid import Grid, Point, gridded
from fedtheory.sweeps.results import Outcome, Sweep, SweepInterrupted, SweepWarning, Variable, variable, variables_of

__all__ = ["sweep"]

_DATA, _PART = "fedtheory sweep 1", "fedtheory part 1"
# Compilers need deep stacks, and threads have small stacks on some platforms.
_STACK = 64 * 2**20
# Processes end after so many seconds without work, so also after their parent was killed.
_IDLE = 10


def sweep(
    function_or_study: Callable[..., Any] | Study | str | Path,
    grid: Mapping[str, Sequence[Any]],
    *,
    seeds: int | Sequence[int] | None = None,
    rng: int = 0,
    backend: str = "loky",
    workers: int | None = None,
    out: str | Path | None = None,
    version: str = "",
    quick: bool = False,
    progress: bool = False,
) -> Sweep:
    """Run a function or a study at every point of a grid, with every seed.

    The results do not depend on the backend, the number of workers, or the order in which they finish. Ctrl-C raises
    `SweepInterrupted`, after one line on standard error that says what is kept.

    Parameters
    ----------
    function_or_study
        A function that takes the settings of a point by name, and ``seed`` if there are seeds. It returns a number, a
        mapping from names to numbers or arrays, a `Trajectory` or a Dataset. Alternatively a `Study`, whose
        configuration the grid changes, or a file that contains one.
    grid
        Values along each axis, by name: numbers, words, tuples, or dataclasses such as strategies.
    seeds, rng
        A number of seeds, which are derived from ``rng`` and the canonical form of the point, so that points are
        independent; or the seeds themselves, equal at all points, so that differences between points are paired.
    backend, workers
        A backend of joblib and the number of its workers: ``"loky"`` (processes), ``"threading"``, ``"sequential"``,
        ``"dask"`` with an open client, or any other that is registered with joblib. Each worker uses one thread for
        linear algebra, since the last bits depend on the number of threads.
    out
        Folder with one file per configuration and, at the end, all data as ``data.nc``, for one sweep at a time. A
        sweep that is started again reads the existing configurations; those that failed or whose file is damaged are
        run again. With None the results are only kept in memory.
    version
        Text that stands for what the identity of the function cannot contain, as a nested function, a function of a
        notebook, or a data file: change it when they change.
    quick
        Start from the small size of a study.
    progress
        Whether to show on standard error how many configurations are done, how many failed, and the remaining time.

    Examples
    --------
    >>> found = sweep(lambda d, tau: 2.0 * d + tau, {"d": [3, 5], "tau": [1, 7]}, backend="sequential")
    >>> found.data["value"].values
    array([[ 7., 13.],
           [11., 17.]])
    """
    points = gridded(grid, seeds, rng)
    function, identified = function_of(function_or_study, points.dims, quick=quick)
    backend, workers = validate.text("backend", backend), -1 if workers is None else validate.count("workers", workers)
    keys = [] if out is None else _keys(identified, points, validate.text("version", version))
    with contextlib.ExitStack() as stack:
        folder = None if out is None else _reserved(files.as_path("out", out), stack)
        found = {} if folder is None else _kept(folder, keys)
        missing, failed = {i: one for i, one in enumerate(points) if i not in found}, 0
        quiet = contextlib.nullcontext[Any](lambda *_: None)
        show = reported("sweep", len(points), done=len(found)) if progress else quiet
        try:
            with show as report, contextlib.closing(_outcomes(function, missing, backend, workers)) as outcomes:
                for i, outcome in outcomes:
                    found[i] = outcome if folder is None else _keep(folder, keys[i], outcome)
                    failed += found[i].failed
                    report(len(found), f"{failed} failed" if failed else "")
        except KeyboardInterrupt:
            kept = (
                "without out= nothing is kept"
                if folder is None
                else f"{folder} keeps them, run the sweep again to go on"
            )
            message = f"{len(found)} of {len(points)} configurations are finished: {kept}"
            warn(message)
            raise SweepInterrupted(message) from None
        result = Sweep.of(points, [found[i] for i in range(len(points))], folder)
        if folder is not None:
            _publish(folder, result)
    return result


def function_of(function_or_study: Any, dims: Sequence[str], *, quick: bool) -> tuple[Callable[..., Any], Any]:
    """Return the function for each point, and what identifies it; TypeError or ValueError unless it takes the axes."""
    path = None
    if isinstance(function_or_study, str | Path):
        path = str(files.as_path("study", function_or_study).resolve())
        function_or_study = read_study(path)
    if isinstance(function_or_study, Study):
        study = function_or_study
        config = study.quick if quick else study.config
        known = [one.name for one in fields(config)]
        for name in dims:
            if name not in known:
                message = f"the grid must set parameters of {study.name} ({', '.join(known)}), got {name}"
                raise ValueError(message)
        function = partial(_study_at, study.run, study.findings, config)
        return (function if path is None else partial(_file_at, path, quick=quick)), function
    if not callable(function_or_study):
        message = f"what is swept must be a function or a study, got {truncate(function_or_study)}"
        raise TypeError(message)
    try:
        inspect.signature(function_or_study).bind(**dict.fromkeys(dims))
    except TypeError as error:
        message = f"the function must take {', '.join(dims) or 'no arguments'} by name, got {error}"
        raise TypeError(message) from None
    return function_or_study, function_or_study


def _file_at(path: str, *, quick: bool, **settings: Any) -> dict[str, Variable]:
    """Run the study in a file, which each process reads once."""
    study = read_study(path)
    return _study_at(study.run, study.findings, study.quick if quick else study.config, **settings)


def _study_at(run: Any, findings: Any, config: Any, /, **settings: Any) -> dict[str, Variable]:
    """Return the data of a study, whether each ``finding`` ``holds``, and the number of those that do not."""
    data = run(replace(config, **settings), silent)
    held = {name: found.holds for name, found in findings(data).items()}
    found = {
        "finding": Variable(("finding",), np.array(list(held))),
        "holds": Variable(("finding",), np.array([*held.values()])),
    }
    return {**variables_of(data), **found, "not_holding": variable("not_holding", list(held.values()).count(False))}


def _outcomes(
    function: Any, missing: Mapping[int, Point], backend: str, workers: int
) -> Generator[tuple[int, Outcome]]:
    """Run the missing configurations, and yield each outcome as soon as it is known."""
    from joblib import Parallel, delayed, parallel_config

    options: dict[str, Any] = {"n_jobs": 1 if backend == "sequential" else workers}
    if backend == "loky":
        options |= {"inner_max_num_threads": 1, "idle_worker_timeout": _IDLE}
    first = next(iter(missing), None)  # compilation is announced once, not by each worker
    tasks = (delayed(_attempt)(function, i, one.arguments, announces=i == first) for i, one in missing.items())
    with _one_thread(), contextlib.ExitStack() as stack:
        try:
            with parallel_config(backend, **options):
                # Processes inherit that they do not receive Ctrl-C: if one is interrupted while it waits for the next
                # configuration, joblib reports a lost worker.
                with block_sigint() if backend == "loky" else contextlib.nullcontext():
                    found = Parallel(return_as="generator_unordered")(tasks)
                stack.callback(_closed, found)
                for outcome in found:  # noqa: UP028 -- `yield from` would close it with a warning
                    yield outcome
        except Exception as error:  # of joblib or its backend
            why = plain(" ".join(f"{type(error).__name__}: {error}".split()))[:200]
            message = f"backend must be one on which joblib can run the sweep, got {backend!r} with {why}"
            raise ValueError(message) from error


def _closed(found: Any) -> None:
    """End a sweep early; joblib warns about lost tasks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found.close()


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Limit linear algebra to one thread, and give new threads a large stack."""
    # SciPy has a separate library, which must be loaded by now.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_limits

    before = threading.stack_size(_STACK)
    try:
        with threadpool_limits(1):
            yield
    finally:
        threading.stack_size(before)


@cache
def _limit_threads() -> None:
    """Limit linear algebra of a process that works for a sweep to one thread."""
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def _attempt(function: Any, i: int, arguments: Mapping[str, Any], *, announces: bool) -> tuple[int, Outcome]:
    """Run one configuration and report the outcome."""
    _limit_threads()
    start = time.perf_counter()
    try:
        with contextlib.nullcontext() if announces else unannounced():
            variables = variables_of(function(**arguments))
    except KeyboardInterrupt:
        raise
    except (Exception, SystemExit) as error:  # recorded; the sweep goes on
        taken = time.perf_counter() - start
        why = " ".join(f"{type(error).__name__}: {error}".split())
        # The outer frames belong to the sweep and differ among backends.
        where = traceback.TracebackException.from_exception(error)
        return i, Outcome(error=why, traceback="".join(where.format()), seconds=taken)
    return i, Outcome(variables, seconds=time.perf_counter() - start)


def _keys(function: Any, points: Grid, version: str) -> list[str]:
    """Return an identity for each configuration: of the function, of the values on the axes, and of the seed."""
    axes = list(points.axes.values())
    try:
        of_function, *of_values = identities([function, *itertools.chain(*axes)], version)
    except UnidentifiedError as error:
        message = f"out must be None for a sweep that cannot be identified: {error}"
        raise ValueError(message) from error
    found = iter(of_values)
    products = itertools.product(*(list(itertools.islice(found, len(values))) for values in axes))
    of_points = itertools.chain.from_iterable([one] * len(points.seeds or (None,)) for one in products)
    texts = [
        json.dumps([of_function, list(points.axes), *own, one.seed]) for own, one in zip(of_points, points, strict=True)
    ]
    return [hashlib.sha256(text.encode()).hexdigest()[:32] for text in texts]


def _reserved(path: Path, stack: contextlib.ExitStack) -> Path:
    """Create a folder, and reserve it for this sweep."""
    try:
        stack.enter_context(files.locked(path, "only one sweep may write into"))
    except OSError as error:
        message = f"out must be a folder that can be written, got {path} ({error.strerror or error})"
        raise ValueError(message) from error
    return path


def _kept(folder: Path, keys: Sequence[str]) -> dict[int, Outcome]:
    """Return the outcomes in a folder, and warn about damaged files."""
    found: dict[int, Outcome] = {}
    damaged: list[str] = []
    for i, key in enumerate(keys):
        path = folder / f"{key}.nc"
        if path.exists():
            try:
                found[i] = _read(path, key)
            except ValueError as error:
                damaged.append(f"{path} is run again: {error}")
    if damaged:
        others = f" (and {len(damaged) - 1} more)" if len(damaged) > 1 else ""
        warnings.warn(f"{damaged[0]}{others}", SweepWarning, stacklevel=3)
    return found


def _read(path: Path, key: str) -> Outcome:
    data = read_file(path, _PART)
    names, seconds = files.parsed_json(str(data.attrs.get("order")).encode()), data.attrs.get("seconds")
    if data.attrs.get("identity") != key or not isinstance(seconds, float) or set(names) != set(data.variables):
        message = "which is not the file of this configuration"
        raise files.OtherFileError(message)
    variables = {name: Variable(tuple(map(str, data[name].dims)), data[name].values) for name in names}
    return Outcome(variables, seconds=seconds)


def _keep(folder: Path, key: str, outcome: Outcome) -> Outcome:
    """Write an outcome; return a failure if it cannot be written."""
    if outcome.failed:
        return outcome
    import xarray

    attrs = {"identity": key, "seconds": float(outcome.seconds), "order": json.dumps(list(outcome.variables))}
    try:
        content = file_bytes(xarray.Dataset(outcome.variables, attrs=attrs), _PART)
    except ValueError as error:
        return Outcome(error=f"ValueError: {error}", traceback=traceback.format_exc(), seconds=outcome.seconds)
    files.place(folder / f"{key}.nc", content)
    return outcome


def _publish(folder: Path, result: Sweep) -> None:
    try:
        files.place(folder / "data.nc", file_bytes(result.data, _DATA))
    except ValueError as error:
        warnings.warn(f"{folder / 'data.nc'} is not written: {error}", SweepWarning, stacklevel=3)
