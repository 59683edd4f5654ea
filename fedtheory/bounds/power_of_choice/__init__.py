r"""Power-of-Choice (Cho, Wang, Joshi): federated averaging with biased client selection.

Throughout, ``Gamma = F* - sum_k p_k F_k*`` is ``objective_gap``, ``gamma = 4 L / mu``, t and T count local steps (not
rounds), and distances are squared. The skews of a selection law S(w) are::

    rho(S(w), w')  = E[1/m sum_{k in S(w)} (F_k(w') - F_k*)] / (F(w') - sum_k p_k F_k*)          eq. (5)
    rho_bar        = inf_{w, w'} rho(S(w), w')                                                  eq. (6)
    rho_tilde      = sup_w rho(S(w), w*)                                                        eq. (6)
    rho_diagonal   = inf_w rho(S(w), w)                   (at least rho_bar)

A step of the proof in the paper is false (eqs. (54)-(55)). The functions of this package are the repaired forms, with
rho_diagonal in place of rho_bar; the printed forms are their attributes ``printed``.

Modules are imported on first use.
"""

from typing import TYPE_CHECKING

from fedtheory._support import lazy

if TYPE_CHECKING:
    from fedtheory.bounds.power_of_choice import _worst_cases as _worst_cases
    from fedtheory.bounds.power_of_choice.decaying_steps import decaying_step_sizes as decaying_step_sizes
    from fedtheory.bounds.power_of_choice.decaying_steps import decaying_steps_gap as decaying_steps_gap
    from fedtheory.bounds.power_of_choice.decaying_steps import refined_decaying_steps_gap as refined_decaying_steps_gap
    from fedtheory.bounds.power_of_choice.exact_lemmas import exact_client_drift as exact_client_drift
    from fedtheory.bounds.power_of_choice.exact_lemmas import loss_after_step as loss_after_step
    from fedtheory.bounds.power_of_choice.fixed_step import fixed_step_gap as fixed_step_gap
    from fedtheory.bounds.power_of_choice.fixed_step import refined_fixed_step_gap as refined_fixed_step_gap
    from fedtheory.bounds.power_of_choice.lemmas import averaged_distance as averaged_distance
    from fedtheory.bounds.power_of_choice.lemmas import client_drift as client_drift
    from fedtheory.bounds.power_of_choice.lemmas import gradient_norm as gradient_norm
    from fedtheory.bounds.power_of_choice.paper import PAPER as PAPER
    from fedtheory.bounds.power_of_choice.recursions import one_step as one_step
    from fedtheory.bounds.power_of_choice.recursions import weighted_one_step as weighted_one_step
    from fedtheory.bounds.power_of_choice.weighted import derived_weighted_average_gap as derived_weighted_average_gap
    from fedtheory.bounds.power_of_choice.weighted import weighted_average_gap as weighted_average_gap
    from fedtheory.bounds.power_of_choice.weighted import weighted_step_sizes as weighted_step_sizes
    from fedtheory.bounds.power_of_choice.whole_rounds import one_round as one_round
    from fedtheory.bounds.power_of_choice.whole_rounds import round_coefficients as round_coefficients
    from fedtheory.bounds.power_of_choice.without_gradient_bounds import averaged_rounds_gap as averaged_rounds_gap
    from fedtheory.bounds.power_of_choice.without_gradient_bounds import (
        decaying_steps_distance as decaying_steps_distance,
    )
    from fedtheory.bounds.power_of_choice.without_gradient_bounds import delayed_step_sizes as delayed_step_sizes
    from fedtheory.bounds.power_of_choice.without_gradient_bounds import fixed_step_distance as fixed_step_distance
else:  # a type checker would accept any name if it saw __getattr__
    __getattr__, __dir__, __all__ = lazy.attach(
        __name__,
        submodules=["_worst_cases"],
        submod_attrs={
            "decaying_steps": ["decaying_step_sizes", "decaying_steps_gap", "refined_decaying_steps_gap"],
            "exact_lemmas": ["exact_client_drift", "loss_after_step"],
            "fixed_step": ["fixed_step_gap", "refined_fixed_step_gap"],
            "lemmas": ["averaged_distance", "client_drift", "gradient_norm"],
            "paper": ["PAPER"],
            "recursions": ["one_step", "weighted_one_step"],
            "weighted": ["derived_weighted_average_gap", "weighted_average_gap", "weighted_step_sizes"],
            "whole_rounds": ["one_round", "round_coefficients"],
            "without_gradient_bounds": [
                "averaged_rounds_gap",
                "decaying_steps_distance",
                "delayed_step_sizes",
                "fixed_step_distance",
            ],
        },
    )
