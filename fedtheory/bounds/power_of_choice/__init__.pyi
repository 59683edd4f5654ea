"""What fedtheory.bounds.power_of_choice offers; written by ``python -m tests.stubs``."""

from fedtheory.bounds.power_of_choice import decaying_steps as decaying_steps
from fedtheory.bounds.power_of_choice import fixed_step as fixed_step
from fedtheory.bounds.power_of_choice import lemmas as lemmas
from fedtheory.bounds.power_of_choice import recursions as recursions
from fedtheory.bounds.power_of_choice import weighted as weighted
from fedtheory.bounds.power_of_choice._words import PAPER as PAPER
from fedtheory.bounds.power_of_choice.decaying_steps import decaying_step_sizes as decaying_step_sizes
from fedtheory.bounds.power_of_choice.decaying_steps import decaying_steps_gap as decaying_steps_gap
from fedtheory.bounds.power_of_choice.decaying_steps import refined_decaying_steps_gap as refined_decaying_steps_gap
from fedtheory.bounds.power_of_choice.fixed_step import fixed_step_gap as fixed_step_gap
from fedtheory.bounds.power_of_choice.fixed_step import refined_fixed_step_gap as refined_fixed_step_gap
from fedtheory.bounds.power_of_choice.lemmas import averaged_distance as averaged_distance
from fedtheory.bounds.power_of_choice.lemmas import client_drift as client_drift
from fedtheory.bounds.power_of_choice.lemmas import gradient_norm as gradient_norm
from fedtheory.bounds.power_of_choice.recursions import one_step as one_step
from fedtheory.bounds.power_of_choice.recursions import weighted_one_step as weighted_one_step
from fedtheory.bounds.power_of_choice.weighted import derived_weighted_average_gap as derived_weighted_average_gap
from fedtheory.bounds.power_of_choice.weighted import weighted_average_gap as weighted_average_gap
from fedtheory.bounds.power_of_choice.weighted import weighted_step_sizes as weighted_step_sizes
