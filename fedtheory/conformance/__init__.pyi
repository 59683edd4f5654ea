"""What fedtheory.conformance offers; written by ``python -m tests.stubs``."""

from fedtheory.conformance import aggregation as aggregation
from fedtheory.conformance import checks as checks
from fedtheory.conformance import flower_strategies as flower_strategies
from fedtheory.conformance import generators as generators
from fedtheory.conformance import probabilities as probabilities
from fedtheory.conformance import results as results
from fedtheory.conformance import shapley as shapley
from fedtheory.conformance import strategies as strategies
from fedtheory.conformance.aggregation import aggregation_checks as aggregation_checks
from fedtheory.conformance.aggregation import check_aggregation as check_aggregation
from fedtheory.conformance.checks import Check as Check
from fedtheory.conformance.checks import FALSE_ALARMS as FALSE_ALARMS
from fedtheory.conformance.flower_strategies import FlowerRounds as FlowerRounds
from fedtheory.conformance.flower_strategies import flower as flower
from fedtheory.conformance.generators import check_generator as check_generator
from fedtheory.conformance.generators import generator_checks as generator_checks
from fedtheory.conformance.probabilities import check_probabilities as check_probabilities
from fedtheory.conformance.probabilities import probability_checks as probability_checks
from fedtheory.conformance.results import Conformance as Conformance
from fedtheory.conformance.results import Failure as Failure
from fedtheory.conformance.shapley import check_shapley as check_shapley
from fedtheory.conformance.shapley import shapley_checks as shapley_checks
from fedtheory.conformance.strategies import check_strategy as check_strategy
from fedtheory.conformance.strategies import strategy_checks as strategy_checks
