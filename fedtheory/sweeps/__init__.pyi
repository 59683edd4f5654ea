"""What fedtheory.sweeps offers; written by ``python -m tests.stubs``."""

from fedtheory.sweeps import grid as grid
from fedtheory.sweeps import plans as plans
from fedtheory.sweeps import results as results
from fedtheory.sweeps import run as run
from fedtheory.sweeps.grid import Configuration as Configuration
from fedtheory.sweeps.grid import Grid as Grid
from fedtheory.sweeps.grid import canonical as canonical
from fedtheory.sweeps.grid import gridded as gridded
from fedtheory.sweeps.plans import Plan as Plan
from fedtheory.sweeps.plans import plan as plan
from fedtheory.sweeps.results import Failure as Failure
from fedtheory.sweeps.results import Sweep as Sweep
from fedtheory.sweeps.results import SweepWarning as SweepWarning
from fedtheory.sweeps.run import sweep as sweep
