"""A run as a line with its confidence band."""

from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory.plotting.bound import measured
from fedtheory.plotting.style import label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fedtheory.engine.trajectory import Trajectory

__all__ = ["draw"]


def draw(run: "Trajectory", name: str, axes: "Axes | None", **look: Any) -> "Axes":
    """Draw a record of one number per round into the Axes, or into the current ones."""
    values = run.recorded(name)
    if values.ndim > 2:
        message = f"name must be a record of one number per round, got {name}, which has {values.shape[2]} in each"
        raise ValueError(message)
    if axes is None:
        import matplotlib.pyplot as plt

        axes = plt.gca()
    band = run.band(name) if len(values) > 1 else (values[0],) * 3  # one replicate has no limits
    curves = [np.where(np.isfinite(band[0]), one, np.nan) for one in band]
    if (values[np.isfinite(values)] > 0).all():
        axes.set_yscale("log")
    axes.set_xlabel("communication rounds")
    axes.set_ylabel(label_of(name))
    return measured(axes, run.rounds, *curves, **{"label": run.config.get("strategy", "run"), **look})
