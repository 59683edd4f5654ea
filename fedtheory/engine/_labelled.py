"""A run as a labelled data set and as a table, each variable with its meaning and its unit."""

import json
from typing import TYPE_CHECKING, Any

from fedtheory._storage.provenance import release
from fedtheory.engine.contract import RECORDS

if TYPE_CHECKING:
    from pandas import DataFrame
    from xarray import Dataset

    from fedtheory.engine.trajectory import Trajectory

__all__ = ["labelled", "long_table"]

_DIMENSIONS = {"v": "coordinate", "m": "place", "K": "client", "s": "entry"}


def labelled(run: "Trajectory") -> "Dataset":
    """Return the data set of a trajectory."""
    import xarray as xr

    variables: dict[str, Any] = {}
    for name, values in run.records.items():
        record = RECORDS[name]
        dims = ("replicate", "round", *(_DIMENSIONS[size] for size in record.shape))
        variables[name] = (dims, values, _says(record.says.replace("``", ""), record.units))
    variables["counts"] = ("replicate", "client"), run.counts, _says("updates that entered the model so far", "updates")
    variables["diverged_at"] = "replicate", run.diverged_at, _says("round of divergence, -1 if there is none", "rounds")
    variables["config"] = (), json.dumps(dict(run.config), sort_keys=True), _says("what was run", "1")
    return xr.Dataset(
        variables,
        coords={
            "round": ("round", run.rounds, _says("communication rounds", "rounds")),
            "strategy": ((), run.config.get("strategy", ""), _says("strategy", "1")),
        },
        attrs={"source": f"fedtheory {release()}"},
    )


def long_table(run: "Trajectory") -> "DataFrame":
    """Return a row for each replicate and recorded round, with the records of one number per round."""
    scalars = [name for name in run.records if not RECORDS[name].shape]
    return labelled(run)[scalars].drop_vars("strategy").to_dataframe(("replicate", "round")).reset_index()


def _says(long_name: str, units: str) -> dict[str, str]:
    return {"long_name": long_name, "units": units}
