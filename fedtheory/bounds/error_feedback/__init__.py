"""Compressed communication: error feedback, EF21, and compressed gradient descent."""

from fedtheory.bounds.error_feedback.cgd import cgd_gap as cgd_gap
from fedtheory.bounds.error_feedback.ef import ef_distance as ef_distance
from fedtheory.bounds.error_feedback.ef import ef_round as ef_round
from fedtheory.bounds.error_feedback.ef21 import ef21_gradient2 as ef21_gradient2
from fedtheory.bounds.error_feedback.ef21 import ef21_round as ef21_round
from fedtheory.bounds.error_feedback.paper import PAPER as PAPER
