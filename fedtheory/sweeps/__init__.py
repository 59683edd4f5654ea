"""Sweeps of a function or a study over a grid, in processes, in threads or on a cluster."""

from fedtheory.sweeps.results import Sweep as Sweep
from fedtheory.sweeps.results import SweepWarning as SweepWarning
from fedtheory.sweeps.run import sweep as sweep
