"""What fedtheory.conformance offers; written by ``python -m tests.stubs``."""

from fedtheory.conformance import aggregation as aggregation
from fedtheory.conformance import flower_strategies as flower_strategies
from fedtheory.conformance import generators as generators
from fedtheory.conformance import methods as methods
from fedtheory.conformance import probabilities as probabilities
from fedtheory.conformance import results as results
from fedtheory.conformance import shapley as shapley
from fedtheory.conformance import strategies as strategies
from fedtheory.conformance.aggregation import check_aggregation as check_aggregation
from fedtheory.conformance.flower_strategies import flower as flower
from fedtheory.conformance.generators import check_generator as check_generator
from fedtheory.conformance.methods import check_method as check_method
from fedtheory.conformance.probabilities import check_probabilities as check_probabilities
from fedtheory.conformance.results import Conformance as Conformance
from fedtheory.conformance.shapley import check_shapley as check_shapley
from fedtheory.conformance.strategies import check_strategy as check_strategy
