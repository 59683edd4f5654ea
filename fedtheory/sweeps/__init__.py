"""Sweeps of a function or a study over a grid, in processes, in threads or on a cluster."""

from typing import TYPE_CHECKING

from fedtheory._support import lazy
from fedtheory.sweeps.results import Sweep as Sweep
from fedtheory.sweeps.results import SweepInterrupted as SweepInterrupted
from fedtheory.sweeps.results import SweepWarning as SweepWarning
from fedtheory.sweeps.run import sweep as sweep

if not TYPE_CHECKING:  # a type checker would accept any name if it saw __getattr__
    __getattr__ = lazy.unknown_in(__name__)
