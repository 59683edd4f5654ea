"""The conformance kit: does other people's code do what its theory says? See the page *Conformance*."""

from fedtheory.conformance.aggregation import check_aggregation
from fedtheory.conformance.generators import check_generator
from fedtheory.conformance.methods import check_method
from fedtheory.conformance.probabilities import check_probabilities
from fedtheory.conformance.shapley import check_shapley
from fedtheory.conformance.strategies import check_strategy

__all__ = [
    "check_aggregation",
    "check_generator",
    "check_method",
    "check_probabilities",
    "check_shapley",
    "check_strategy",
]
