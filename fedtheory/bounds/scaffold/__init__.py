"""SCAFFOLD (Karimireddy, Kale, Mohri, Reddi, Stich, Suresh 2020)."""

from fedtheory.bounds.scaffold.any_step_size import one_round as one_round
from fedtheory.bounds.scaffold.horizon import fixed_step_potential as fixed_step_potential
from fedtheory.bounds.scaffold.option_one import option_one_round as option_one_round
from fedtheory.bounds.scaffold.paper import PAPER as PAPER
from fedtheory.bounds.scaffold.sampled import sampled_round as sampled_round
