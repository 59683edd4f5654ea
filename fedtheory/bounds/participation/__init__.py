"""Arbitrary participation of clients (Wang, Ji 2022)."""

from fedtheory.bounds.participation.distance import fixed_step_distance as fixed_step_distance
from fedtheory.bounds.participation.paper import PAPER as PAPER
