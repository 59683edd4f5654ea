"""What a sweep found, over its grid: data, failures, a table with intervals, and a plot."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fedtheory._support.validate import choice
from fedtheory.statistics import student_mean
from fedtheory.study import Table
from fedtheory.sweeps._assembly import FAILED, assembled
from fedtheory.sweeps._grid import Grid
from fedtheory.sweeps._outcomes import Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from xarray import Dataset

__all__ = ["Sweep", "SweepWarning"]


class SweepWarning(UserWarning):
    """Something in a sweep's folder is not as it was left, and is repaired."""


class Failure(NamedTuple):
    """A configuration that raised: in words, what it raised, and where."""

    configuration: str
    error: str
    traceback: str


@dataclass(frozen=True, eq=False)
class Sweep:
    """What a sweep found.

    Attributes
    ----------
    data
        An `xarray.Dataset` over the grid, with a dimension ``seed`` if there are seeds; ``failed`` says where there is
        nothing. Its attributes say where the seeds come from, and which version computed it.
    failures
        The configurations that raised.
    digest
        SHA-256 of everything found: the same for every backend, number of workers and order, resumed or not.
    seconds
        What the configurations took, added up.
    folder
        Where it is stored, if it is.
    """

    data: "Dataset"
    failures: Sequence[Failure]
    digest: str
    seconds: float
    folder: Path | None

    @classmethod
    def of(cls, grid: Grid, outcomes: Mapping[str, Outcome], folder: Path | None = None) -> "Sweep":
        """Put together what the configurations of a grid came to."""
        here = [(one, outcomes[one.name]) for one in grid]
        failures = [Failure(str(one), outcome.error, outcome.traceback) for one, outcome in here if outcome.failed]
        digest = hashlib.sha256()
        for name, outcome in sorted((one.name, outcome) for one, outcome in here):
            digest.update(f"{name} {outcome.digest}\n".encode())
        data = assembled(grid, outcomes)
        data.attrs["seeds"] = grid.rule
        data.attrs["fedtheory"] = ", ".join(sorted({outcome.made_by for _, outcome in here}))
        seconds = sum(outcome.seconds for _, outcome in here)
        return cls(data, failures, digest.hexdigest(), seconds, folder)

    @property
    def variables(self) -> list[str]:
        """Names of what is one number at each configuration: these can be tabulated and plotted."""
        return [
            str(name)
            for name, found in self.data.data_vars.items()
            if name != FAILED and set(found.dims) <= set(self._dims) and found.dtype.kind in "biuf"
        ]

    def intervals(self, variable: str | None = None, confidence: float = 0.95) -> "Dataset":
        """Mean over the seeds, with Student's limits, over the grid.

        Parameters
        ----------
        variable
            Any of ``variables``; the first by default.
        confidence
            Of the limits, at each point alone.

        Returns
        -------
        xarray.Dataset
            ``mean``, ``lower``, ``upper`` and ``seeds`` (how many there are). Configurations that failed are left out;
            a value that is not finite is not: it makes the mean so too. One seed has no limits.
        """
        import xarray

        found = self.data[self._known(variable)]
        if "seed" not in found.dims:
            alone = xarray.ones_like(found, dtype=np.int64)
            return xarray.Dataset({"mean": found, "lower": found, "upper": found, "seeds": alone})
        found = found.transpose("seed", ...)
        there = ~self.data[FAILED].transpose("seed", ...).values
        values, points = (part.reshape(len(found), -1) for part in (found.values, there))
        rows = [_interval(values[points[:, i], i], confidence) for i in range(values.shape[1])]
        shape, dims = found.shape[1:], found.dims[1:]
        columns = {name: (dims, np.reshape([row[i] for row in rows], shape)) for i, name in enumerate(_SIDES)}
        return xarray.Dataset(columns, coords={dim: found[dim] for dim in dims})

    def table(self, variable: str | None = None, confidence: float = 0.95) -> Table:
        """Return one row per point: mean over the seeds, half the width of its interval, failures if there are any."""
        name = self._known(variable)
        found = self.intervals(name, confidence)
        dims = self.points
        lost = self.data[FAILED].sum("seed") if "seed" in self.data.dims else self.data[FAILED].astype(int)
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
        self, axes: "Axes", variable: str | None = None, *, x: str | None = None, hue: str | None = None,
        confidence: float = 0.95,
    ) -> "Axes":  # fmt: skip
        """Draw a variable against an axis of the grid, a line with its band for each value of another; return the Axes.

        Parameters
        ----------
        axes
            Where to draw.
        variable
            Any of ``variables``; the first by default.
        x, hue
            Axes of the grid: by default the longest of numbers, and the longest of the others. At the rest of the axes
            the first value is drawn, and said in the title.
        confidence
            Of the band, pointwise.
        """
        from fedtheory.plotting._grids import lines_with_bands

        name = self._known(variable)
        return lines_with_bands(axes, self.intervals(name, confidence), name, x=x, hue=hue)

    @property
    def points(self) -> list[str]:
        """Names of the axes of the grid, without ``seed``."""
        return [dim for dim in self._dims if dim != "seed"]

    @property
    def _dims(self) -> tuple[str, ...]:
        return tuple(map(str, self.data[FAILED].dims))

    def _known(self, variable: str | None) -> str:
        if not self.variables:
            message = "a sweep must have found a number to show, got none"
            raise ValueError(message)
        return self.variables[0] if variable is None else choice("variable", variable, tuple(self.variables))


_SIDES = ("mean", "lower", "upper", "seeds")


def _interval(values: Any, confidence: float) -> tuple[float, float, float, int]:
    if not values.size:
        return np.nan, np.nan, np.nan, 0
    mean = float(np.mean(values))
    if not np.isfinite(values).all():
        return mean, -np.inf, np.inf, values.size
    lower, upper = student_mean(values, confidence)
    return mean, float(lower), float(upper), values.size
