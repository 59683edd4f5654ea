"""What fedtheory.sweeps offers; written by ``python -m tests.stubs``."""

from fedtheory.sweeps import plans as plans
from fedtheory.sweeps import results as results
from fedtheory.sweeps import run as run
from fedtheory.sweeps.plans import plan as plan
from fedtheory.sweeps.results import Sweep as Sweep
from fedtheory.sweeps.results import SweepWarning as SweepWarning
from fedtheory.sweeps.run import sweep as sweep
