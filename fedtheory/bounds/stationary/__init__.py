"""Convergence of federated averaging and normalized averaging to their stationary points."""

from fedtheory.bounds.stationary.averaging import averaging_distance as averaging_distance
from fedtheory.bounds.stationary.normalized import normalized_round as normalized_round
from fedtheory.bounds.stationary.paper import PAPER as PAPER
