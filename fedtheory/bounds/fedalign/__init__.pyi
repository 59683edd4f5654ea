"""What fedtheory.bounds.fedalign offers; written by ``python -m tests.stubs``."""

from fedtheory.bounds.fedalign import alignment as alignment
from fedtheory.bounds.fedalign import full_participation as full_participation
from fedtheory.bounds.fedalign import lemmas as lemmas
from fedtheory.bounds.fedalign import partial_participation as partial_participation
from fedtheory.bounds.fedalign import recursions as recursions
from fedtheory.bounds.fedalign._words import PAPER as PAPER
from fedtheory.bounds.fedalign.alignment import included_gaps as included_gaps
from fedtheory.bounds.fedalign.alignment import priority_weights as priority_weights
from fedtheory.bounds.fedalign.alignment import renormalized_weights as renormalized_weights
from fedtheory.bounds.fedalign.alignment import rho as rho
from fedtheory.bounds.fedalign.alignment import theta as theta
from fedtheory.bounds.fedalign.full_participation import decaying_step_sizes as decaying_step_sizes
from fedtheory.bounds.fedalign.full_participation import full_participation_gap as full_participation_gap
from fedtheory.bounds.fedalign.lemmas import aggregated_distance as aggregated_distance
from fedtheory.bounds.fedalign.lemmas import client_drift as client_drift
from fedtheory.bounds.fedalign.lemmas import gradient_norm as gradient_norm
from fedtheory.bounds.fedalign.lemmas import gradient_variance as gradient_variance
from fedtheory.bounds.fedalign.lemmas import sampling_variance as sampling_variance
from fedtheory.bounds.fedalign.partial_participation import partial_participation_gap as partial_participation_gap
from fedtheory.bounds.fedalign.recursions import one_step as one_step
from fedtheory.bounds.fedalign.recursions import partial_one_step as partial_one_step
from fedtheory.bounds.fedalign.recursions import recursion_gap as recursion_gap
from fedtheory.bounds.fedalign.recursions import refined_one_step as refined_one_step
