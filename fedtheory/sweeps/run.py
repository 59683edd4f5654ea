"""Evaluation of a function or a study on a grid, with joblib and resume.

A result is stored under the identity of its inputs: the function with everything that it refers to, the values of the
point, the seed, and versions. It is only read for the same identity.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import itertools
import json
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from fedtheory._storage import files
from fedtheory._storage.identity import UnidentifiedError, identities, identity
from fedtheory._storage.netcdf import Variable, dataset_bytes, netcdf_bytes, netcdf_content
from fedtheory._storage.provenance import code_version
from fedtheory._support import validate
from fedtheory._support.progress import reported, unannounced
from fedtheory._support.wording import plain, truncate
from fedtheory.study import Study, silent
from fedtheory.study._files import read_study
from fedtheory.sweeps._grid import Grid, Point, gridded
from fedtheory.sweeps.results import Outcome, Sweep, SweepWarning, variable, variables_of

__all__ = ["sweep"]

# Compilers need deep stacks, and threads have small stacks on some platforms.
_STACK = 64 * 2**20
# Seconds between two checks of a worker whether its parent is alive.
_LOOK = 0.5


def sweep(
    function_or_study: Callable[..., Any] | Study | str | Path,
    grid: Mapping[str, Sequence[Any]],
    *,
    seeds: int | Sequence[int] | None = None,
    rng: int = 0,
    backend: str = "loky",
    workers: int | None = None,
    out: str | Path | None = None,
    quick: bool = False,
    progress: bool = False,
) -> Sweep:
    """Run a function or a study at every point of a grid, with every seed.

    The results do not depend on the backend, the number of workers, or the order in which they finish.

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
        A backend of joblib and the number of its workers, by default that of joblib: ``"loky"`` (processes),
        ``"threading"``, ``"sequential"``, ``"dask"`` with an open client, or any other backend that is registered with
        joblib. Each worker uses one thread for linear algebra, since the last bits depend on the number of threads.
    out
        Folder with one file per configuration and, at the end, all data as ``data.nc``. A sweep that is started again
        reads the existing configurations; those that failed or whose file is incomplete are run again. With None the
        results are only kept in memory.
    quick
        Start from the small size of a study.
    progress
        Whether to show on standard error how many configurations are done, how many failed, and the remaining time.

    Returns
    -------
    Sweep
        One labeled Dataset over the grid, the failures with their tracebacks, a table and a plot.

    Raises
    ------
    ValueError, TypeError
        If the grid, the folder or the backend is invalid, a function that is to be stored cannot be identified, or a
        worker dies or has other code than this process.
    KeyboardInterrupt
        On Ctrl-C; finished results are in the folder.

    Examples
    --------
    >>> found = sweep(lambda d, tau: 2.0 * d + tau, {"d": [3, 5], "tau": [1, 7]}, backend="sequential")
    >>> found.data["value"].values
    array([[ 7., 13.],
           [11., 17.]])
    """
    points = gridded(grid, seeds, rng)
    function = function_of(function_or_study, points.dims, quick=quick)
    workers = -1 if workers is None else validate.count("workers", workers)
    folder = None if out is None else _folder(files.as_path("out", out))
    keys = None if folder is None else _keys(function, points)
    found = {} if keys is None else _kept(folder, keys)
    missing, failed = {i: one for i, one in enumerate(points) if i not in found}, 0
    with reported("sweep", len(points), done=len(found)) if progress else contextlib.nullcontext(_silent) as report:
        for i, outcome in outcomes(function, points, missing, backend, workers):
            found[i] = outcome if keys is None else _keep(folder, keys[i], outcome)
            failed += found[i].failed
            report(len(found), f"{failed} failed" if failed else "")
    result = Sweep.of(points, [found[i] for i in range(len(points))], folder)
    if folder is not None:
        _publish(folder, result)
    return result


def _silent(*_: Any) -> None:
    return


def function_of(function_or_study: Any, dims: Sequence[str], *, quick: bool) -> Callable[..., Any]:
    """Return the function for each point; TypeError or ValueError unless it accepts the grid's arguments."""
    if isinstance(function_or_study, str | Path):
        function_or_study = _study_in(function_or_study)
    if isinstance(function_or_study, Study):
        study = function_or_study
        config = study.quick if quick else study.config
        known = [one.name for one in fields(config)]
        for name in dims:
            if name not in known:
                message = f"the grid must set parameters of {study.name} ({', '.join(known)}), got {name}"
                raise ValueError(message)
        return partial(_study_at, study.run, study.findings, config)
    if not callable(function_or_study):
        message = f"what is swept must be a function or a study, got {truncate(function_or_study)}"
        raise TypeError(message)
    try:
        inspect.signature(function_or_study).bind(**dict.fromkeys(dims))
    except TypeError as error:
        message = f"the function must take {', '.join(dims) or 'no arguments'} by name, got {error}"
        raise TypeError(message) from None
    function: Callable[..., Any] = function_or_study
    return function


def _study_in(path: str | Path) -> Study:
    """Return the study in a file, pickled by value for other processes."""
    import cloudpickle

    study = read_study(str(files.as_path("study", path).resolve()))
    for part in (study.run, study.findings, type(study.config)):
        cloudpickle.register_pickle_by_value(sys.modules[part.__module__])
    return study


def _study_at(run: Any, findings: Any, config: Any, **settings: Any) -> dict[str, Variable]:
    """Return the data of a study, whether each ``finding`` ``holds``, and the number of those that do not."""
    data = run(replace(config, **settings), silent)
    held = {name: found.holds for name, found in findings(data).items()}
    found = {
        "finding": Variable(("finding",), np.array(list(held))),
        "holds": Variable(("finding",), np.array([*held.values()])),
    }
    return {**variables_of(data), **found, "not_holding": variable("not_holding", list(held.values()).count(False))}


def outcomes(
    function: Any, points: Grid, missing: Mapping[int, Point], backend: Any, workers: int
) -> Iterator[tuple[int, Outcome]]:
    """Run the missing configurations, and yield each outcome as soon as it is known."""
    from joblib import Parallel, delayed, parallel_config
    from joblib.parallel import get_active_backend

    if not isinstance(backend, str):
        message = f"backend must be the name of a backend of joblib, as 'loky' or 'threading', got {truncate(backend)}"
        raise TypeError(message)
    is_here = backend in ("sequential", "threading")
    work, expected, code = (function, None, None) if is_here else _packed(function, points)
    options: dict[str, Any] = {"n_jobs": 1 if backend == "sequential" else workers}
    if backend == "loky":
        # Other code gets new workers, since those of an earlier sweep may have imported modules that were edited later.
        options |= {"inner_max_num_threads": 1, "initializer": _begin, "initargs": (os.getpid(), code)}
    with _one_thread(), contextlib.ExitStack() as stack:
        try:
            stack.enter_context(parallel_config(backend, **options))
            if backend == "dask":
                _report_losses(get_active_backend()[0])
            run = Parallel(return_as="generator_unordered")
            first = next(iter(missing), None)  # compilation is announced once, not by each worker
            found = run(
                delayed(_attempt)(work, expected, i, one.arguments, announces=i == first) for i, one in missing.items()
            )
        except (ValueError, ImportError) as error:
            message = f"backend must be one that joblib can use here, got {backend}: {' '.join(str(error).split())}"
            raise ValueError(message) from error
        stack.callback(_closed, found)
        while True:
            try:
                i, outcome = next(found)
            except StopIteration:
                return
            except Exception as error:  # a worker died, or the cluster raised an exception
                why = " ".join(f"{type(error).__name__}: {error}".split())
                message = (
                    f"workers must live until the sweep is over, got {plain(why)[:200]}; finished results are kept"
                )
                raise ValueError(message) from error
            if outcome.refused:
                raise ValueError(outcome.refused)
            yield i, outcome


def _report_losses(backend: Any) -> None:
    """Make a backend report tasks that are lost with their workers; joblib 1.6 waits endlessly for those of Dask."""
    submit, retrieve = backend.submit, backend.retrieve_result_callback

    def submitted(batch: Any, callback: Any = None) -> Any:
        future = submit(batch, callback)
        future.add_done_callback(lambda done: callback(done.exception()) if done.exception() else None)
        return future

    def retrieved(result: Any) -> Any:
        if isinstance(result, BaseException):
            raise result
        return retrieve(result)

    backend.submit, backend.retrieve_result_callback = submitted, retrieved


def _closed(found: Any) -> None:
    """End a sweep early; joblib warns about lost tasks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found.close()


def _packed(function: Any, points: Grid) -> tuple[bytes, str | None, str | None]:
    """Return the work as bytes, its identity, and that of the function alone, None if there is none."""
    import cloudpickle

    work = function, dict(points.axes)
    try:
        packed = cloudpickle.dumps(work)
    except Exception as error:  # pickling may raise anything
        message = f"what is swept must be something that can be sent to other processes, got {error}"
        raise TypeError(message) from error
    try:
        return packed, identity(work, here=False), identity(function, here=False)
    except UnidentifiedError:
        return packed, None, None


def _begin(parent: int, _: str | None) -> None:
    """Make a worker ignore Ctrl-C, which the parent handles, and exit if the parent was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os._exit(1)


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


_pin = cache(lambda: contextlib.ExitStack().enter_context(_one_thread()))


@lru_cache(maxsize=4)
def _unpacked(packed: bytes, expected: str | None) -> Any:
    import pickle

    work = pickle.loads(packed)  # from the process that started this one, never from a file
    if expected is not None and identity(work, here=False) != expected:
        message = "they find other code, or other versions, than the process that started them"
        raise ImportError(message)
    return work[0]


def _attempt(
    work: Any, expected: str | None, i: int, arguments: Mapping[str, Any], *, announces: bool = True
) -> tuple[int, Outcome]:
    """Run one configuration and report the outcome; packed work is unpacked first."""
    if isinstance(work, bytes):
        _pin()
        try:
            work = _unpacked(work, expected)
        except Exception as error:  # an import may raise anything
            why = " ".join(f"{type(error).__name__}: {error}".split())
            return i, Outcome(refused=f"workers must run the same code with fedtheory {code_version()}, got {why}")
    start = time.perf_counter()
    try:
        with contextlib.nullcontext() if announces else unannounced():
            variables = variables_of(work(**arguments))
    except (Exception, SystemExit) as error:  # recorded; the sweep goes on
        taken = time.perf_counter() - start
        why = " ".join(f"{type(error).__name__}: {error}".split())
        # The outer frames belong to the sweep and differ among backends.
        where = traceback.TracebackException.from_exception(error)
        return i, Outcome(error=why, traceback="".join(where.format()), seconds=taken)
    return i, Outcome(variables, seconds=time.perf_counter() - start)


def _keys(function: Any, points: Grid) -> list[str]:
    """Return an identity for each configuration: of the function, of the values on the axes, and of the seed."""
    try:
        of_function, of_values = identity(function), [identities(values) for values in points.axes.values()]
    except UnidentifiedError as error:
        message = f"out must be None for a sweep that cannot be identified: {error}"
        raise ValueError(message) from error
    seeds = [one.seed for one in points]
    per_point = len(points.seeds or (None,))
    keys = [(of_function, *point) for point in itertools.product(*of_values) for _ in range(per_point)]
    texts = [json.dumps([*key, list(points.axes), seed]) for key, seed in zip(keys, seeds, strict=True)]
    return [hashlib.sha256(text.encode()).hexdigest()[:32] for text in texts]


def _folder(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
        files.writable(path / "data.nc")
    except OSError as error:
        message = f"out must be a folder that can be written, got {path} ({error.strerror or error})"
        raise ValueError(message) from error
    return path


def _kept(folder: Any, keys: Sequence[str]) -> dict[int, Outcome]:
    """Return the outcomes in a folder, and warn about incomplete files."""
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
    variables, attrs = netcdf_content(files.read_bytes(path))
    order = files.parsed_json(str(attrs.get("order")).encode())
    seconds = attrs.get("seconds")
    if attrs.get("identity") != key or not isinstance(seconds, float) or sorted(map(str, order)) != sorted(variables):
        message = "which is not the file of this configuration"
        raise files.OtherFileError(message)
    return Outcome({name: variables[name] for name in order}, seconds=seconds)


def _keep(folder: Any, key: str, outcome: Outcome) -> Outcome:
    """Write an outcome; return a failure if it cannot be written."""
    if outcome.failed:
        return outcome
    attrs = {"identity": key, "seconds": float(outcome.seconds), "order": json.dumps(list(outcome.variables))}
    try:
        content = netcdf_bytes(outcome.variables, attrs)
    except ValueError as error:
        return Outcome(error=f"ValueError: {error}", traceback=traceback.format_exc(), seconds=outcome.seconds)
    files.place(folder / f"{key}.nc", content)
    return outcome


def _publish(folder: Path, result: Sweep) -> None:
    try:
        files.place(folder / "data.nc", dataset_bytes(result.data))
    except ValueError as error:
        warnings.warn(f"{folder / 'data.nc'} is not written: {error}", SweepWarning, stacklevel=3)
