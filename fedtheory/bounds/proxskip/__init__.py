"""ProxSkip and its federated form Scaffnew (Mishchenko, Malinovsky, Stich, Richtarik 2022)."""

from fedtheory.bounds.proxskip.paper import PAPER as PAPER
from fedtheory.bounds.proxskip.refined import refined_fixed_step_potential as refined_fixed_step_potential
from fedtheory.bounds.proxskip.stochastic import corrected_potential as corrected_potential
from fedtheory.bounds.proxskip.stochastic import stochastic_potential as stochastic_potential
from fedtheory.bounds.proxskip.theorem import fixed_step_potential as fixed_step_potential
