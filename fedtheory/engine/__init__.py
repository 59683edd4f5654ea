"""The round loop of ``fedtheory.fedavg``, and its kernels."""

from typing import TYPE_CHECKING

from fedtheory._support import lazy
from fedtheory.engine.contract import Family as Family
from fedtheory.engine.contract import LocalWork as LocalWork
from fedtheory.engine.families import layout as layout
from fedtheory.engine.heterogeneity import Stragglers as Stragglers
from fedtheory.engine.heterogeneity import privacy_noise as privacy_noise
from fedtheory.engine.local_steps import begin as begin
from fedtheory.engine.local_steps import descend as descend
from fedtheory.engine.local_steps import finish as finish
from fedtheory.engine.play import play_round as play_round
from fedtheory.engine.schedule import Halving as Halving
from fedtheory.engine.settings import Settings as Settings
from fedtheory.engine.simulation import fedavg as fedavg
from fedtheory.engine.trajectory import Trajectory as Trajectory

if not TYPE_CHECKING:  # a type checker would accept any name if it saw __getattr__
    __getattr__ = lazy.unknown_in(__name__)
