"""Average drift at the minimizer (Wang, Das, Joshi, Kale, Xu, Zhang 2022)."""

from fedtheory.bounds.average_drift.distance import fixed_step_distance as fixed_step_distance
from fedtheory.bounds.average_drift.paper import PAPER as PAPER
