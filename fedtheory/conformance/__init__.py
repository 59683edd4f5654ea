"""Checks of user code against the assumptions of its theory, and Hypothesis strategies.

Modules are imported on first use.
"""

from typing import TYPE_CHECKING

from fedtheory._support import lazy

__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    submod_attrs={
        "aggregation": ["check_aggregation"],
        "drawing": [
            "constants_of",
            "games",
            "laws",
            "norms",
            "norms_and_budgets",
            "quadratic_federations",
            "rationals",
            "seeds",
            "weights",
        ],
        "flower_strategies": ["flower"],
        "generators": ["check_generator"],
        "methods": ["check_method"],
        "own_bounds": ["check_bound"],
        "partitions": ["check_partition"],
        "probabilities": ["check_probabilities"],
        "results": ["Conformance"],
        "shapley": ["check_shapley"],
        "strategies": ["check_strategy"],
    },
)

if TYPE_CHECKING:
    from fedtheory.conformance.aggregation import check_aggregation as check_aggregation
    from fedtheory.conformance.drawing import constants_of as constants_of
    from fedtheory.conformance.drawing import games as games
    from fedtheory.conformance.drawing import laws as laws
    from fedtheory.conformance.drawing import norms as norms
    from fedtheory.conformance.drawing import norms_and_budgets as norms_and_budgets
    from fedtheory.conformance.drawing import quadratic_federations as quadratic_federations
    from fedtheory.conformance.drawing import rationals as rationals
    from fedtheory.conformance.drawing import seeds as seeds
    from fedtheory.conformance.drawing import weights as weights
    from fedtheory.conformance.flower_strategies import flower as flower
    from fedtheory.conformance.generators import check_generator as check_generator
    from fedtheory.conformance.methods import check_method as check_method
    from fedtheory.conformance.own_bounds import check_bound as check_bound
    from fedtheory.conformance.partitions import check_partition as check_partition
    from fedtheory.conformance.probabilities import check_probabilities as check_probabilities
    from fedtheory.conformance.results import Conformance as Conformance
    from fedtheory.conformance.shapley import check_shapley as check_shapley
    from fedtheory.conformance.strategies import check_strategy as check_strategy
