"""Stochastic gradients with bounded heterogeneity at the minimizer: sampled clients, and local steps."""

from fedtheory.bounds.sgd.fixed_step import fixed_step_distance as fixed_step_distance
from fedtheory.bounds.sgd.local_steps import local_steps_round as local_steps_round
from fedtheory.bounds.sgd.one_step import drawn_step as drawn_step
from fedtheory.bounds.sgd.one_step import subset_step as subset_step
from fedtheory.bounds.sgd.paper import PAPER as PAPER
