"""Federated averaging with unbiased selection (Li, Huang, Yang, Wang, Zhang 2020).

Modules are imported on first use.
"""

from typing import TYPE_CHECKING

from fedtheory._support import lazy

if TYPE_CHECKING:
    from fedtheory.bounds.fedavg import _worst_cases as _worst_cases
    from fedtheory.bounds.fedavg.convergence import decaying_steps_gap as decaying_steps_gap
    from fedtheory.bounds.fedavg.lemmas import one_step as one_step
    from fedtheory.bounds.fedavg.lemmas import with_replacement_variance as with_replacement_variance
    from fedtheory.bounds.fedavg.lemmas import without_replacement_variance as without_replacement_variance
    from fedtheory.bounds.fedavg.paper import PAPER as PAPER
    from fedtheory.bounds.fedavg.theorems import decaying_step_sizes as decaying_step_sizes
    from fedtheory.bounds.fedavg.theorems import full_participation_gap as full_participation_gap
    from fedtheory.bounds.fedavg.theorems import with_replacement_gap as with_replacement_gap
    from fedtheory.bounds.fedavg.theorems import without_replacement_gap as without_replacement_gap
    from fedtheory.bounds.fedavg.unequal_weights import transformed_gap as transformed_gap
    from fedtheory.bounds.fedavg.without_gradient_bounds import fixed_step_distance as fixed_step_distance
    from fedtheory.bounds.fedavg.without_gradient_bounds import gap_after_step as gap_after_step
    from fedtheory.bounds.fedavg.without_gradient_bounds import one_round as one_round
    from fedtheory.bounds.fedavg.without_gradient_bounds import sampled_step as sampled_step
else:  # a type checker would accept any name if it saw __getattr__
    __getattr__, __dir__, __all__ = lazy.attach(
        __name__,
        submodules=["_worst_cases"],
        submod_attrs={
            "convergence": ["decaying_steps_gap"],
            "lemmas": ["one_step", "with_replacement_variance", "without_replacement_variance"],
            "paper": ["PAPER"],
            "theorems": [
                "decaying_step_sizes",
                "full_participation_gap",
                "with_replacement_gap",
                "without_replacement_gap",
            ],
            "unequal_weights": ["transformed_gap"],
            "without_gradient_bounds": ["fixed_step_distance", "gap_after_step", "one_round", "sampled_step"],
        },
    )
