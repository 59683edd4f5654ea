"""Sweeps: a function or a study at every point of a grid, with processes, threads or a cluster."""

from fedtheory.sweeps.results import Sweep as Sweep
from fedtheory.sweeps.results import SweepWarning as SweepWarning
from fedtheory.sweeps.run import sweep as sweep
