r"""FedALIGN (Ravi, Shomorony): convergence of federated averaging that also uses matching non-priority clients.

The objective ``F = sum_{k in P} p_k F_k`` counts the priority clients P only, whose weights sum to 1; non-priority
clients have shares p_k relative to the same total, and ``I_k = 1`` in the rounds in which client k is included. With
``s = sum_{k not in P} p_k I_k`` every included client has the weight ``p'_k = p_k/(1 + s)``, eq. (14). Throughout
``Gamma = F* - sum_{k in P} p_k F_k*`` is ``objective_gap``, ``Gamma_k = F_k(w*) - F_k*``, ``gamma = max(8 L/mu, E)``,
step sizes are ``2/(mu (t + gamma))``, t and T count local steps, distances are squared, and

    theta_T = 1/(T + gamma - 2) sum_i E[1/(1 + s_i)]                                                eq. (7)
    rho_T   = 2 L/(mu (T + gamma - 2)) sum_i E[sum_{k not in P} p_k I_k Gamma_k/(1 + s_i)]          eq. (8)

with s_i as it is in the round of step i. The sums of the paper begin at i = 1, which makes Theorem 1 false for one
local step; those of the corrected forms begin at i = 0 (``first_step`` of ``theta`` and ``rho``).
"""

from fedtheory._support.discover import lazy_names
from fedtheory.bounds.fedalign._words import PAPER as PAPER

__getattr__, __dir__ = lazy_names(__name__, __path__[0])
