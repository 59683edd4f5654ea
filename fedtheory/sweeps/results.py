"""Results of a sweep: outcomes, data set, table and plot."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fedtheory._storage.provenance import code_version
from fedtheory._support import validate
from fedtheory._support.summary import Summary
from fedtheory._support.wording import truncate
from fedtheory.plotting.bound import measured
from fedtheory.plotting.style import COLORS, MARKERS, label_of
from fedtheory.statistics import student_mean
from fedtheory.study import Table
from fedtheory.sweeps._grid import Grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from xarray import Dataset

__all__ = ["Failure", "Outcome", "Sweep", "SweepInterrupted", "SweepWarning", "Variable", "variable", "variables_of"]

_FAILED, _TRACEBACK, _SIDES = "failed", "traceback", ("mean", "lower", "upper", "seeds")

# On a linear axis, positions that differ by more than this factor are only distinguishable if they are large.
_WIDE = 30


class SweepWarning(UserWarning):
    """Warning that a file in a sweep's folder cannot be read or written."""


class SweepInterrupted(KeyboardInterrupt, SystemExit):
    """Ctrl-C ended a sweep.

    ``except KeyboardInterrupt`` catches it. If nothing does, the script ends as after ``sys.exit(130)``: without a
    traceback.
    """

    code = 130


class Variable(NamedTuple):
    """An array with the names of its dimensions."""

    dims: tuple[str, ...]
    values: npt.NDArray[Any]


class Failure(NamedTuple):
    """A configuration that raised an exception, with its message and traceback."""

    configuration: str
    error: str
    traceback: str


@dataclass(frozen=True, eq=False)
class Sweep:
    """Results of a sweep.

    Attributes
    ----------
    data
        An `xarray.Dataset` over the grid, with a dimension ``seed`` if there are seeds. ``failed`` marks configurations
        without results, and ``traceback``, if there are any, contains the reasons. Attributes state the origin of the
        seeds and the version.
    failures
        The configurations that raised an exception.
    digest
        SHA-256 of all results, independent of the backend, the number of workers, their order, and resuming.
    seconds
        Total time of the configurations.
    folder
        Folder of the stored results, if any.
    """

    data: Dataset
    failures: Sequence[Failure]
    digest: str
    seconds: float
    folder: Path | None

    @classmethod
    def of(cls, points: Grid, outcomes: Sequence[Outcome], folder: Path | None = None) -> Sweep:
        """Combine the outcomes of the configurations of a grid."""
        pairs = list(zip(points, outcomes, strict=True))
        failures = [Failure(str(one), outcome.error, outcome.traceback) for one, outcome in pairs if outcome.failed]
        digest = hashlib.sha256()
        for name, value in sorted(
            (hashlib.sha256(one.text.encode()).hexdigest()[:32], outcome.digest) for one, outcome in pairs
        ):
            digest.update(f"{name} {value}\n".encode())
        data = _assembled(points, outcomes)
        data.attrs["seeds"] = points.rule
        data.attrs["fedtheory"] = code_version()
        return cls(data, failures, digest.hexdigest(), sum(one.seconds for one in outcomes), folder)

    def __repr__(self) -> str:
        return self._summary.text

    def _repr_html_(self) -> str:
        return self._summary.html

    @property
    def _summary(self) -> Summary:
        sizes = ", ".join(f"{name}: {size}" for name, size in self.data[_FAILED].sizes.items())
        rows = {
            "grid": sizes or "one point",
            "variables": ", ".join(map(str, self.data.data_vars)),
            "failed": f"{len(self.failures)} of {self.data[_FAILED].size}",
        }
        return Summary("Sweep", rows)

    @property
    def variables(self) -> list[str]:
        """Names of the variables with one number per configuration, which can be tabulated and plotted."""
        return [
            str(name)
            for name, found in self.data.data_vars.items()
            if name != _FAILED and set(found.dims) <= set(self._dims) and found.dtype.kind in "biuf"
        ]

    def intervals(self, variable: str | None = None, confidence: float = 0.95) -> Dataset:
        """``mean``, Student's limits ``lower`` and ``upper``, and number of ``seeds`` of a variable, over the grid.

        Failed configurations are omitted; values that are not finite are not, and make the mean not finite. For a
        single seed there are no limits. The ``confidence`` holds at each point separately.
        """
        import xarray

        found = self.data[self._known(variable)]
        if "seed" not in found.dims:
            alone = xarray.ones_like(found, dtype=np.int64)
            return xarray.Dataset({"mean": found, "lower": found, "upper": found, "seeds": alone})
        found = found.transpose("seed", ...)
        there = ~self.data[_FAILED].transpose("seed", ...).values
        values, is_there = (part.reshape(len(found), -1) for part in (found.values, there))
        rows = [_interval(values[is_there[:, i], i], confidence) for i in range(values.shape[1])]
        shape, dims = found.shape[1:], found.dims[1:]
        columns = {name: (dims, np.reshape([row[i] for row in rows], shape)) for i, name in enumerate(_SIDES)}
        return xarray.Dataset(columns, coords={dim: found[dim] for dim in dims})

    def table(self, variable: str | None = None, confidence: float = 0.95) -> Table:
        """Return one row per point: the mean over the seeds, half the width of its interval, and failures, if any."""
        name = self._known(variable)
        found, dims = self.intervals(name, confidence), self.points
        lost = self.data[_FAILED].sum("seed") if "seed" in self.data.dims else self.data[_FAILED].astype(int)
        rows = []
        for place in np.ndindex(*(self.data.sizes[dim] for dim in dims)):
            at = dict(zip(dims, place, strict=True))
            here = found.isel(at)
            row = {dim: self.data[dim].values[i].item() for dim, i in at.items()} | {name: float(here["mean"])}
            if "seed" in self.data.dims:
                row[f"+- ({confidence:.0%})"] = float(here["upper"] - here["lower"]) / 2
            rows.append(row | ({"failed": int(lost.isel(at))} if self.failures else {}))
        return Table(rows, title=f"{name} over {', '.join(dims) or 'nothing'}")

    def plot(
        self, axes: Axes, variable: str | None = None, *, x: str | None = None, hue: str | None = None,
        confidence: float = 0.95,
    ) -> Axes:  # fmt: skip
        """Plot a variable against an axis, with a line and a band per value of another axis; return the Axes.

        ``x`` and ``hue`` are axes of the grid: by default the longest numerical one, and the longest of the others. Of
        each remaining axis the first value is plotted and stated in the title. The ``confidence`` of the band is
        pointwise.
        """
        name = self._known(variable)
        _lines_with_bands(axes, self.intervals(name, confidence), name, x=x, hue=hue)
        if len(axes.get_lines()) > 1:
            axes.legend()
        return axes

    @property
    def points(self) -> list[str]:
        """Names of the axes of the grid, without ``seed``."""
        return [dim for dim in self._dims if dim != "seed"]

    @property
    def _dims(self) -> tuple[str, ...]:
        return tuple(map(str, self.data[_FAILED].dims))

    def _known(self, variable: str | None) -> str:
        if not self.variables:
            message = "a sweep must have found a number to show, got none"
            raise ValueError(message)
        return self.variables[0] if variable is None else validate.choice("variable", variable, (*self.variables,))


def _lines_with_bands(
    axes: Axes, intervals: Dataset, name: str, *, x: str | None = None, hue: str | None = None
) -> Axes:
    """Plot means with confidence bands against one dimension, one line for each value of another; return the Axes."""
    by_length = sorted(map(str, intervals["mean"].dims), key=lambda dim: -intervals.sizes[dim])
    numeric = [dim for dim in by_length if intervals[dim].dtype.kind in "iuf"]
    if not numeric:
        message = "a plot must have an axis of numbers, got none"
        raise ValueError(message)
    x = numeric[0] if x is None else validate.choice("x", x, tuple(numeric))
    others = [dim for dim in by_length if dim != x]
    if hue is None:
        hue = next((dim for dim in others if intervals.sizes[dim] > 1), None)
    elif hue not in others:
        message = f"hue must be one of {', '.join(map(repr, others))}, got {truncate(hue)}"
        raise ValueError(message)
    rest = {dim: 0 for dim in others if dim != hue}
    here = intervals.isel(rest).sortby(x)
    places = here[x].values
    if places[0] > 0 and places[-1] >= _WIDE * places[0]:
        axes.set_xscale("log")
    for i in range(1 if hue is None else here.sizes[hue]):
        line = here if hue is None else here.isel({hue: i})
        label = label_of(name) if hue is None else f"{label_of(hue)} = {here[hue].values[i]}"
        measured(
            axes, places, line["mean"].values, line["lower"].values, line["upper"].values, label=label,
            color=COLORS[i % len(COLORS)], marker=MARKERS[i % len(MARKERS)],
        )  # fmt: skip
    axes.set_xlabel(label_of(x))
    axes.set_ylabel(label_of(name))
    axes.set_title(", ".join(f"{label_of(dim)} = {intervals[dim].values[0]}" for dim in rest))
    return axes


def _interval(values: Any, confidence: float) -> tuple[float, float, float, int]:
    if not values.size:
        return np.nan, np.nan, np.nan, 0
    mean = float(np.mean(values))
    if not np.isfinite(values).all():
        return mean, -np.inf, np.inf, values.size
    lower, upper = student_mean(values, confidence)
    return mean, float(lower), float(upper), values.size


@dataclass(frozen=True, eq=False)
class Outcome:
    """Outcome of one configuration: arrays by name, or an error with its traceback."""

    variables: Mapping[str, Variable] = field(default_factory=dict)
    error: str = ""
    traceback: str = ""
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether it raised an exception."""
        return bool(self.error)

    @property
    def digest(self) -> str:
        """SHA-256 of the results without the time; equal for all failures."""
        found = hashlib.sha256(b"failed" if self.failed else b"done")
        for name, variable in sorted(self.variables.items()):
            values = np.ascontiguousarray(variable.values)
            found.update(json.dumps([name, variable.dims, values.dtype.str, values.shape]).encode())
            found.update(values.tobytes())
        return found.hexdigest()


def variables_of(result: Any) -> dict[str, Variable]:
    """Convert the result of a function to labeled arrays."""
    if isinstance(result, dict):
        return {
            str(name): value if isinstance(value, Variable) else variable(str(name), value)
            for name, value in result.items()
        }
    if isinstance(result, int | float | np.generic | np.ndarray):
        return {"value": variable("value", result)}
    # The import is slow, and not needed for numbers.
    import xarray

    from fedtheory.engine.trajectory import Trajectory

    if isinstance(result, Trajectory):
        # The grid describes what is run, including the strategy, which may be one of its axes.
        result = result.to_xarray().drop_vars(["strategy", "config"])
    if not isinstance(result, xarray.Dataset):
        message = f"a sweep must find numbers, a dictionary of them, a Trajectory or a Dataset, got {truncate(result)}"
        raise TypeError(message)
    return {
        str(name): Variable(tuple(map(str, found.dims)), _array(str(name), found.values))
        for name, found in result.variables.items()
    }


def variable(name: str, value: Any) -> Variable:
    """Create an array whose dimensions are numbered."""
    values = _array(name, value)
    return Variable(tuple(f"{name}_{axis}" for axis in range(values.ndim)), values)


def _array(name: str, value: Any) -> npt.NDArray[Any]:
    values = np.asarray(value)
    if values.dtype.kind == "O" and values.size and all(isinstance(entry, str) for entry in values.flat):
        values = values.astype(np.str_)
    if values.dtype.kind not in "biufU":
        message = f"{name} must be made of numbers or words, got {truncate(value)}"
        raise TypeError(message)
    return values


def _assembled(points: Grid, outcomes: Sequence[Outcome]) -> Dataset:
    """Combine the results of the configurations in one Dataset with the dimensions of the grid first."""
    import xarray

    places = list(np.ndindex(points.shape))
    taken = {*points.dims, _FAILED, _TRACEBACK}
    found = [(place, _renamed(one.variables, taken)) for place, one in zip(places, outcomes, strict=True)]
    labels: dict[str, dict[Any, int]] = {}
    for _, variables in found:
        for dims, values in variables.values():
            for dim, length in zip(dims, values.shape, strict=True):
                known = labels.setdefault(dim, {})
                for label in _along(dim, variables, length):
                    known.setdefault(label, len(known))
    names = dict.fromkeys(name for _, variables in found for name in variables if name not in labels)
    whole = {name: _spread(name, points, found, labels) for name in names}
    whole[_FAILED] = points.dims, np.array([one.failed for one in outcomes]).reshape(points.shape)
    if whole[_FAILED][1].any():
        whole[_TRACEBACK] = points.dims, np.array([one.traceback for one in outcomes]).reshape(points.shape)
    inner = {dim for dims, _ in whole.values() for dim in dims}
    own = {dim: list(known) for dim, known in labels.items() if dim in inner and any(dim in one for _, one in found)}
    return xarray.Dataset(whole, coords={**points.labels, **own})


def _renamed(variables: Mapping[str, Variable], taken: set[str]) -> dict[str, Variable]:
    def free(name: str) -> str:
        return f"{name}_" if name in taken else name

    return {free(name): Variable(tuple(map(free, dims)), values) for name, (dims, values) in variables.items()}


def _along(dim: str, variables: Mapping[str, Variable], length: int) -> list[Any]:
    """Return the labels along a dimension, or numbers."""
    labels: list[Any] = variables[dim].values.tolist() if dim in variables else list(range(length))
    return labels


def _spread(
    name: str, points: Grid, found: Sequence[tuple[tuple[int, ...], dict[str, Variable]]],
    labels: Mapping[str, Mapping[Any, int]],
) -> tuple[tuple[str, ...], npt.NDArray[Any]]:  # fmt: skip
    """Combine one variable of all results in one array; NaN, or empty text, for missing values."""
    with_it = [(place, variables) for place, variables in found if name in variables]
    dims = with_it[0][1][name].dims
    shape = (*points.shape, *(len(labels[dim]) for dim in dims))
    kind = np.result_type(*{variables[name].values.dtype for _, variables in with_it})
    whole, held = np.zeros(shape, dtype=kind), np.zeros(shape, dtype=np.bool_)
    for place, variables in with_it:
        at: Any = (*place, ...)
        if variables[name].dims != dims:
            message = f"{name} must have the same dimensions everywhere, got {dims} and {variables[name].dims}"
            raise ValueError(message)
        values = variables[name].values
        rows = [[labels[d][one] for one in _along(d, variables, n)] for d, n in zip(dims, values.shape, strict=True)]
        inner = np.ix_(*rows) if rows else ()
        whole[at][inner] = values
        held[at][inner] = True
    complete = held.all() or kind.kind == "U"
    return (*points.dims, *dims), whole if complete else np.where(held, whole, np.nan)
