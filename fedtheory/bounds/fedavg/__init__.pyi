"""What fedtheory.bounds.fedavg offers; written by ``python -m tests.stubs``."""

from fedtheory.bounds.fedavg import convergence as convergence
from fedtheory.bounds.fedavg._words import PAPER as PAPER
from fedtheory.bounds.fedavg.convergence import decaying_steps_gap as decaying_steps_gap
