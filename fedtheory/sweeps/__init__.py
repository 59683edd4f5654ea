"""Sweeps: a function or a study at every point of a grid, on processes, on threads or on a cluster."""

from fedtheory.sweeps.results import Sweep, SweepWarning
from fedtheory.sweeps.run import sweep

__all__ = ["Sweep", "SweepWarning", "sweep"]
