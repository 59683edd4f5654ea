"""Does somebody's own code do what its theory says? One file per kind of code; offered by ``ft.verification``."""

from fedtheory.conformance.aggregation import check_aggregation as check_aggregation
from fedtheory.conformance.flower_strategies import flower as flower
from fedtheory.conformance.generators import check_generator as check_generator
from fedtheory.conformance.methods import check_method as check_method
from fedtheory.conformance.probabilities import check_probabilities as check_probabilities
from fedtheory.conformance.results import Conformance as Conformance
from fedtheory.conformance.shapley import check_shapley as check_shapley
from fedtheory.conformance.strategies import check_strategy as check_strategy
