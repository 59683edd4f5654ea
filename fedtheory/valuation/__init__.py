"""Shapley values, exact and estimated, and their axioms.

Modules are imported on first use.
"""

from typing import TYPE_CHECKING

from fedtheory._support import lazy

__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    submod_attrs={
        "axioms": ["efficiency", "null_player", "symmetry"],
        "games": ["Game", "shapley"],
        "permutations": ["Estimate", "gtg_shapley"],
        "softmax": ["softmax_utilities"],
    },
)

if TYPE_CHECKING:
    from fedtheory.valuation.axioms import efficiency as efficiency
    from fedtheory.valuation.axioms import null_player as null_player
    from fedtheory.valuation.axioms import symmetry as symmetry
    from fedtheory.valuation.games import Game as Game
    from fedtheory.valuation.games import shapley as shapley
    from fedtheory.valuation.permutations import Estimate as Estimate
    from fedtheory.valuation.permutations import gtg_shapley as gtg_shapley
    from fedtheory.valuation.softmax import softmax_utilities as softmax_utilities
