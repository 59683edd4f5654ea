"""What a run of federated averaging leaves behind."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self, final

import numpy as np
import numpy.typing as npt

from fedtheory._validate import Array
from fedtheory.engine.contract import RECORDS
from fedtheory.statistics import student_mean

__all__ = ["Band", "Trajectory"]

_DIMENSIONS = {"v": "coordinate", "m": "place"}


class Band(NamedTuple):
    """A mean over replicates and its confidence limits, pointwise, each of shape (num_recorded,)."""

    mean: Array
    lower: Array
    upper: Array


@final
@dataclass(frozen=True, eq=False)
class Trajectory:
    """Replicates of one run.

    Attributes
    ----------
    rounds
        The rounds recorded, shape (n,); round 0 is the initial model.
    records
        What was recorded, by name: ``gap`` (F(w) - F*), ``loss`` (F(w)), ``uplink`` (floats sent to the server so far),
        ``broadcasts`` (models sent to clients so far), ``evaluations`` (client losses evaluated so far), each of shape
        (R, n), ``coalitions`` (evaluated so far), too, ``models``, shape (R, n, v), and of the round that begins
        ``selected`` (who trains, then -1), ``coefficients`` (of their updates, then NaN) and ``values`` (in its game,
        then NaN), shape (R, n, m). A diverged replicate is NaN from the round in which it diverged.
    counts
        How often each client's update entered the model, shape (R, K).
    diverged_at
        Round in which a replicate's model stopped being finite, -1 if it never did, shape (R,).
    config
        What was run: strategy, step sizes in words, seed entropy and so on (JSON-serializable).
    """

    rounds: npt.NDArray[np.int64]
    records: Mapping[str, Array]
    counts: npt.NDArray[np.int64]
    diverged_at: npt.NDArray[np.int64]
    config: Mapping[str, Any]

    @property
    def gap(self) -> Array:
        """``F(w) - F*``, shape (R, n)."""
        return self.recorded("gap")

    @property
    def loss(self) -> Array:
        """``F(w)``, shape (R, n)."""
        return self.recorded("loss")

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
        """Return a record by name; ValueError if the run did not keep it."""
        if name not in self.records:
            message = f"{name} was not recorded (record={tuple(self.records)}), ask for it with record=(..., {name!r})"
            raise ValueError(message)
        return self.records[name]

    def band(self, name: str = "gap", confidence: float = 0.95) -> Band:
        """Mean over replicates with Student's confidence limits, pointwise.

        A diverged replicate makes mean and limits infinite from there on: leaving it out would flatter the mean.
        One replicate has no limits (they are infinite).
        """
        values = self.recorded(name)
        lost = ~np.isfinite(values).all(axis=0)
        finite = np.where(lost, 0.0, values)
        lower, upper = student_mean(finite, confidence)
        return Band(
            np.where(lost, np.inf, finite.mean(axis=0)), np.where(lost, -np.inf, lower), np.where(lost, np.inf, upper)
        )

    def to_xarray(self) -> Any:
        """Return an ``xarray.Dataset`` with dimensions replicate, round, client, coordinate and place in the cohort."""
        import xarray as xr

        inner = {name: (_DIMENSIONS[size] for size in record.shape) for name, record in RECORDS.items()}
        variables = {name: (("replicate", "round", *inner[name]), value) for name, value in self.records.items()}
        return xr.Dataset(
            {
                **variables,
                "counts": (("replicate", "client"), self.counts),
                "diverged_at": ("replicate", self.diverged_at),
            },
            coords={"round": self.rounds},
            attrs={"config": json.dumps(dict(self.config), sort_keys=True)},
        )

    def save(self, path: str | Path) -> None:
        """Write netCDF, whole or not at all."""
        target = Path(path)
        partial = target.with_name(f".{target.name}.partial")
        self.to_xarray().to_netcdf(partial, engine="h5netcdf")
        partial.replace(target)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what ``save`` wrote."""
        import xarray as xr

        with xr.open_dataset(path, engine="h5netcdf") as opened:
            data = opened.load()
        return cls(
            rounds=data["round"].values,
            records={name: data[name].values for name in RECORDS if name in data},
            counts=data["counts"].values,
            diverged_at=data["diverged_at"].values,
            config=json.loads(data.attrs["config"]),
        )
