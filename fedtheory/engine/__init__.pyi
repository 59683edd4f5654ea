"""What fedtheory.engine offers; written by ``python -m tests.stubs``."""

from fedtheory.engine import families as families
from fedtheory.engine import inclusion as inclusion
from fedtheory.engine import rounds as rounds
from fedtheory.engine import schedule as schedule
from fedtheory.engine import simulation as simulation
from fedtheory.engine import trajectory as trajectory
from fedtheory.engine.families import layout as layout
from fedtheory.engine.inclusion import Inclusions as Inclusions
from fedtheory.engine.inclusion import inclusions as inclusions
from fedtheory.engine.rounds import Family as Family
from fedtheory.engine.rounds import LocalWork as LocalWork
from fedtheory.engine.rounds import Recording as Recording
from fedtheory.engine.rounds import Server as Server
from fedtheory.engine.rounds import Workspace as Workspace
from fedtheory.engine.rounds import run_rounds as run_rounds
from fedtheory.engine.schedule import Halving as Halving
from fedtheory.engine.schedule import InverseTime as InverseTime
from fedtheory.engine.schedule import Schedule as Schedule
from fedtheory.engine.schedule import step_sizes as step_sizes
from fedtheory.engine.simulation import fedavg as fedavg
from fedtheory.engine.trajectory import Band as Band
from fedtheory.engine.trajectory import Trajectory as Trajectory
