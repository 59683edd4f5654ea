"""Optimal Client Sampling (Chen, Horvath, Richtarik): DSGD and FedAvg with any independent sampling.

Every statement holds for any independent sampling with unbiased weights ``w_i / p_i``; the sampling enters through
the relative improvement factor gamma in [m/n, 1], which optimal sampling never makes smaller than uniform sampling
does. The constants are derived anew with proofs in the documentation. One round is in ``dsgd`` and ``fedavg``, many
rounds are in ``rounds``, the lemmas in ``lemmas``.

Arguments: ``distance2`` is ``|x - x*|^2``; ``gap`` is ``f(x) - f*``; ``objective_gap`` is
``sum_i w_i (f_i(x*) - f_i*)``; ``max_weight`` and ``sum_squared_weights`` are W and S2; ``relative_noise`` and
``sigma2`` are M and sigma^2 of Assumptions 7 and 8; ``dissimilarity`` is rho of Assumption 9.
"""

from fedtheory._support.discover import lazy_names
from fedtheory.bounds.optimal_client_sampling._words import PAPER as PAPER

__getattr__, __dir__ = lazy_names(__name__, __path__[0])
