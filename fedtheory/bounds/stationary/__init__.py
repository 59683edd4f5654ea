"""Stationary points of federated averaging and normalized averaging: convergence to them, and the gradient there."""

from typing import TYPE_CHECKING

from fedtheory._support import lazy
from fedtheory.bounds.stationary.averaging import averaging_distance as averaging_distance
from fedtheory.bounds.stationary.normalized import normalized_round as normalized_round
from fedtheory.bounds.stationary.paper import PAPER as PAPER
from fedtheory.bounds.stationary.surrogate import inconsistency as inconsistency

if not TYPE_CHECKING:  # a type checker would accept any name if it saw __getattr__
    __getattr__ = lazy.unknown_in(__name__)
