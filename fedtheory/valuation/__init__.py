"""Shapley values, exact and estimated, and their axioms."""

from fedtheory.valuation.axioms import efficiency as efficiency
from fedtheory.valuation.axioms import linearity as linearity
from fedtheory.valuation.axioms import null_player as null_player
from fedtheory.valuation.axioms import symmetry as symmetry
from fedtheory.valuation.games import Game as Game
from fedtheory.valuation.games import shapley as shapley
from fedtheory.valuation.methods import Valuation as Valuation
from fedtheory.valuation.permutations import Estimate as Estimate
from fedtheory.valuation.permutations import gtg_shapley as gtg_shapley
from fedtheory.valuation.permutations import permutation_shapley as permutation_shapley
from fedtheory.valuation.softmax import softmax_utilities as softmax_utilities
