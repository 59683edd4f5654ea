"""Stationary points of federated averaging and normalized averaging: convergence to them, and the gradient there."""

from fedtheory.bounds.stationary.averaging import averaging_distance as averaging_distance
from fedtheory.bounds.stationary.normalized import normalized_round as normalized_round
from fedtheory.bounds.stationary.paper import PAPER as PAPER
from fedtheory.bounds.stationary.surrogate import inconsistency as inconsistency
