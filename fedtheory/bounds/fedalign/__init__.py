r"""FedALIGN (Ravi, Shomorony): convergence with priority clients and matching non-priority clients.

The objective ``F = sum_{k in P} p_k F_k`` covers only the priority clients P, whose weights sum to 1. The shares p_k of
the other clients are relative to the same total. In rounds in which client k is included, ``I_k = 1``. With
``s = sum_{k not in P} p_k I_k`` every included client has the weight ``p'_k = p_k/(1 + s)``, eq. (14). Throughout,
``Gamma = F* - sum_{k in P} p_k F_k*`` is ``objective_gap``, ``Gamma_k = F_k(w*) - F_k*``, ``gamma = max(8 L/mu, E)``,
step sizes are ``2/(mu (t + gamma))``, t and T count local steps, distances are squared, and

    theta_T = 1/(T + gamma - 2) sum_i E[1/(1 + s_i)]                                                eq. (7)
    rho_T   = 2 L/(mu (T + gamma - 2)) sum_i E[sum_{k not in P} p_k I_k Gamma_k/(1 + s_i)]          eq. (8)

where s_i is the value of s in the round of step i. The sums of the paper begin at i = 1, which makes Theorem 1 false
for one local step; the sums of the corrected forms begin at i = 0 (argument ``first_step`` of ``theta`` and ``rho``).

Modules are imported on first use.
"""

from typing import TYPE_CHECKING

from fedtheory._support import lazy

if TYPE_CHECKING:
    from fedtheory.bounds.fedalign import _worst_cases as _worst_cases
    from fedtheory.bounds.fedalign.alignment import included_gaps as included_gaps
    from fedtheory.bounds.fedalign.alignment import priority_weights as priority_weights
    from fedtheory.bounds.fedalign.alignment import rho as rho
    from fedtheory.bounds.fedalign.alignment import theta as theta
    from fedtheory.bounds.fedalign.full_participation import decaying_step_sizes as decaying_step_sizes
    from fedtheory.bounds.fedalign.full_participation import full_participation_gap as full_participation_gap
    from fedtheory.bounds.fedalign.lemmas import aggregated_distance as aggregated_distance
    from fedtheory.bounds.fedalign.lemmas import client_drift as client_drift
    from fedtheory.bounds.fedalign.lemmas import gradient_norm as gradient_norm
    from fedtheory.bounds.fedalign.lemmas import gradient_variance as gradient_variance
    from fedtheory.bounds.fedalign.lemmas import sampling_variance as sampling_variance
    from fedtheory.bounds.fedalign.paper import PAPER as PAPER
    from fedtheory.bounds.fedalign.partial_participation import partial_participation_gap as partial_participation_gap
    from fedtheory.bounds.fedalign.recursions import one_step as one_step
    from fedtheory.bounds.fedalign.recursions import partial_one_step as partial_one_step
    from fedtheory.bounds.fedalign.recursions import recursion_gap as recursion_gap
    from fedtheory.bounds.fedalign.recursions import refined_one_step as refined_one_step
else:  # a type checker would accept any name if it saw __getattr__
    __getattr__, __dir__, __all__ = lazy.attach(
        __name__,
        submodules=["_worst_cases"],
        submod_attrs={
            "alignment": ["included_gaps", "priority_weights", "rho", "theta"],
            "full_participation": ["decaying_step_sizes", "full_participation_gap"],
            "lemmas": [
                "aggregated_distance",
                "client_drift",
                "gradient_norm",
                "gradient_variance",
                "sampling_variance",
            ],
            "paper": ["PAPER"],
            "partial_participation": ["partial_participation_gap"],
            "recursions": ["one_step", "partial_one_step", "recursion_gap", "refined_one_step"],
        },
    )
