r"""Power-of-Choice (Cho, Wang, Joshi): the convergence theorems of federated averaging with biased client selection.

Throughout, ``Gamma = F* - sum_k p_k F_k*`` is ``objective_gap``, ``gamma = 4 L / mu``, t and T count local steps (not
rounds), distances are squared, and the skews of a selection law S(w) are::

    rho(S(w), w')  = E[1/m sum_{k in S(w)} (F_k(w') - F_k*)] / (F(w') - sum_k p_k F_k*)          eq. (5)
    rho_bar        = inf_{w, w'} rho(S(w), w')                                                  eq. (6)
    rho_tilde      = sup_w rho(S(w), w*)                                                        eq. (6)
    rho_diagonal   = inf_w rho(S(w), w)                   (at least rho_bar)

The proof in the paper replaces the skew at ``(w_round_start, w_t)`` by its infimum although both models depend on the
selection (eqs. (54)-(55)); that step is false. Expanding around the round's starting model instead repairs it, with
rho_diagonal in the place of rho_bar, and gives a smaller bias. The repaired forms are the functions of this file; the
printed ones are their ``printed``.
"""

from fedtheory._support.discover import lazy_names
from fedtheory.bounds.power_of_choice._words import PAPER as PAPER

__getattr__, __dir__ = lazy_names(__name__, __path__[0])
