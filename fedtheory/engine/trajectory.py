"""Result of a run of federated averaging."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self, final

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.summary import Summary, html_table
from fedtheory._support.validate import Array, Mask
from fedtheory._support.wording import format_value, truncate
from fedtheory.engine.contract import RECORDS
from fedtheory.statistics import student_mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame
    from xarray import Dataset

    from fedtheory.engine.settings import Settings

__all__ = ["Trajectory"]

# Rows of a band that a notebook displays.
_SHOWN = 10
_DIMENSIONS = {"v": "coordinate", "m": "place", "K": "client", "s": "entry"}


class Band(NamedTuple):
    """A mean over replicates and its confidence limits, pointwise, each of shape (num_recorded,)."""

    mean: Array
    lower: Array
    upper: Array

    def _repr_html_(self) -> str:
        shown = np.unique(np.linspace(0, len(self.mean) - 1, _SHOWN).astype(int))
        rows = ((i, *(float(side[i]) for side in self)) for i in shown)
        return html_table(("record", *self._fields), rows, f"{len(shown)} of {len(self.mean)} records")


@final
@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """Results of a run: recorded quantities of all replicates.

    Attributes
    ----------
    rounds
        Recorded rounds, shape (n,); round 0 is the initial model.
    records
        Recorded quantities by name: ``gap`` (F(w) - F*), ``loss`` (F(w)), ``accuracy`` (share of the test samples),
        ``uplink`` (floats sent to the server so far), ``broadcasts`` (models sent to clients so far), ``evaluations``
        (client losses evaluated so far), ``coalitions`` (evaluated so far), each of shape (R, n), ``models``, shape (R,
        n, v), and for the round that begins ``selected`` (clients that train, filled up with -1), ``coefficients`` (of
        their updates, filled up with NaN) and ``values`` (of these clients, filled up with NaN), shape (R, n, m), and
        ``states`` of a method's clients. A diverged replicate is NaN from that round on.
    counts
        How often each client's update entered the model, shape (R, K).
    diverged_at
        Round in which a replicate's model stopped being finite, -1 if it never did, shape (R,).
    config
        Description of the run: strategy, step sizes, seed entropy and other arguments (JSON-serializable).
    settings
        Arguments of ``fedavg``, from which ``exact.for_run`` reads its constants; None if the run was loaded.
    provenance
        Software versions and machine of a run that was loaded from a file; otherwise None.
    """

    rounds: npt.NDArray[np.int64]
    records: Mapping[str, Array]
    counts: npt.NDArray[np.int64]
    diverged_at: npt.NDArray[np.int64]
    config: Mapping[str, Any]
    settings: Settings | None = None
    provenance: Mapping[str, str] | None = None

    def __repr__(self) -> str:
        return self._summary.text

    def _repr_html_(self) -> str:
        return self._summary.html

    @property
    def _summary(self) -> Summary:
        lost, last = int((self.diverged_at >= 0).sum()), int(self.rounds[-1])
        rows = {name: self.config[name] for name in ("strategy", "local_steps", "step_size") if name in self.config}
        for name in ("gap", "loss"):
            if name in self.records:
                mean = _mean(self.records[name])
                rows[name] = f"{format_value(float(mean[0]))} -> {format_value(float(mean[-1]))} (mean of replicates)"
        rows |= {"recorded": f"{', '.join(self.records)} at {len(self.rounds)} of rounds 0..{last}"}
        rows |= {"diverged": f"{lost} of {len(self.diverged_at)}"} if lost else {}
        rows |= {"seed": self.config["entropy"]} if "entropy" in self.config else {}
        return Summary(f"Trajectory: {len(self.diverged_at)} replicates of {self.counts.shape[1]} clients", rows)

    @property
    def gap(self) -> Array:
        """``F(w) - F*``, shape (R, n)."""
        return self.recorded("gap")

    @property
    def loss(self) -> Array:
        """``F(w)``, shape (R, n)."""
        return self.recorded("loss")

    @property
    def accuracy(self) -> Array:
        """Share of the test samples that the model classifies correctly, shape (R, n)."""
        return self.recorded("accuracy")

    @property
    def models(self) -> Array:
        """Server models, shape (R, n, v)."""
        return self.recorded("models")

    @property
    def uplink(self) -> Array:
        """Floats sent to the server so far, shape (R, n)."""
        return self.recorded("uplink")

    @property
    def status(self) -> npt.NDArray[np.str_]:
        """``ok`` or ``diverged`` for each replicate, shape (R,)."""
        return np.where(self.diverged_at < 0, "ok", "diverged")

    def recorded(self, name: str) -> Array:
        """Return a record by name; raise ValueError if it was not kept."""
        if validate.text("name", name) not in self.records:
            message = (
                f"name must be one of {tuple(self.records)}, got {truncate(name)}, which was not recorded (record=)"
            )
            raise ValueError(message)
        return self.records[name]

    def band(self, name: str = "gap", confidence: float = 0.95) -> Band:
        """Return the ``mean`` over replicates with Student's confidence limits ``lower`` and ``upper``, pointwise.

        From the round in which a replicate diverges or the sum over them overflows, mean and limits are infinite, since
        leaving it out would bias the mean. A single replicate has no confidence limits and raises a ValueError.
        """
        values = self.recorded(name)
        if len(values) < 2:
            message = f"num_replicates must be at least 2 for confidence limits, got 1: its values are {name}[0]"
            raise ValueError(message)
        lost = _lost(values)
        lower, upper = student_mean(np.where(lost, 0.0, values), confidence)
        return Band(_mean(values), np.where(lost, -np.inf, lower), np.where(lost, np.inf, upper))

    def plot(self, name: str = "gap", axes: Axes | None = None, **look: Any) -> Axes:
        """Plot a record of one number per round: the mean over replicates with its 95% confidence band.

        The vertical axis is logarithmic if all plotted values are positive. ``axes`` are the current Axes by default;
        ``look`` takes ``label``, ``color`` and ``marker`` of `fedtheory.plotting.measured`.
        """
        from fedtheory.plotting.bound import measured
        from fedtheory.plotting.style import label_of

        values = self.recorded(name)
        if values.ndim > 2:
            message = f"name must be a record of one number per round, got {name}, which has {values.shape[2]} in each"
            raise ValueError(message)
        if axes is None:
            import matplotlib.pyplot as plt

            axes = plt.gca()
        band = self.band(name) if len(values) > 1 else (values[0],) * 3  # one replicate has no limits
        curves = [np.where(np.isfinite(band[0]), one, np.nan) for one in band]
        if (values[np.isfinite(values)] > 0).all():
            axes.set_yscale("log")
        axes.set_xlabel("communication rounds")
        axes.set_ylabel(label_of(name))
        return measured(axes, self.rounds, *curves, **{"label": self.config.get("strategy", "run"), **look})

    def to_xarray(self) -> Dataset:
        """Return an ``xarray.Dataset`` with dimensions replicate, round, client, coordinate and place in the cohort.

        Every variable has a description (``long_name``) and ``units``. Runs can be combined with ``xarray.concat``
        along the coordinate ``strategy``, because the properties in which runs differ are variables, such as
        ``config``.
        """
        from importlib.metadata import version

        import xarray as xr

        variables: dict[str, Any] = {}
        for name, values in self.records.items():
            record = RECORDS[name]
            dims = ("replicate", "round", *(_DIMENSIONS[size] for size in record.shape))
            variables[name] = (dims, values, _says(record.says.replace("``", ""), record.units))
        counts, diverged = "updates that entered the model so far", "round of divergence, -1 if there is none"
        variables["counts"] = ("replicate", "client"), self.counts, _says(counts, "updates")
        variables["diverged_at"] = "replicate", self.diverged_at, _says(diverged, "rounds")
        variables["config"] = (), json.dumps(dict(self.config), sort_keys=True), _says("what was run", "1")
        return xr.Dataset(
            variables,
            coords={
                "round": ("round", self.rounds, _says("communication rounds", "rounds")),
                "strategy": ((), self.config.get("strategy", ""), _says("strategy", "1")),
            },
            attrs={"source": f"fedtheory {version('fedtheory')}"},
        )

    def to_pandas(self) -> DataFrame:
        """Return a ``pandas.DataFrame`` with a row for each replicate and round.

        Records of one number per round have a column; ``to_xarray`` returns the others.
        """
        scalars = [name for name in self.records if not RECORDS[name].shape]
        return self.to_xarray()[scalars].drop_vars("strategy").to_dataframe(("replicate", "round")).reset_index()

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the data set of the run, with software versions and machine, atomically to a netCDF-3 file.

        A FileExistsError is raised if the file exists and ``overwrite`` is False.
        """
        from fedtheory.engine import _saved

        _saved.write(path, self.to_xarray(), self.provenance, new=not validate.boolean("overwrite", overwrite))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a run from a file that ``save`` wrote; a ValueError names what is missing or changed."""
        from fedtheory.engine import _saved

        return cls(**_saved.read(path))


def _says(long_name: str, units: str) -> dict[str, str]:
    return {"long_name": long_name, "units": units}


def _lost(values: Array) -> Mask:
    """Where a replicate has diverged or the sum over replicates overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        lost: Mask = ~np.isfinite(values.sum(axis=0))
    return lost


def _mean(values: Array) -> Array:
    """Mean over replicates, infinite if one has diverged."""
    lost = _lost(values)
    return np.where(lost, np.inf, np.where(lost, 0.0, values).mean(axis=0))
