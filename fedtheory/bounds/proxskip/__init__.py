"""ProxSkip and its federated form Scaffnew (Mishchenko, Malinovsky, Stich, Richtarik 2022)."""

from typing import TYPE_CHECKING

from fedtheory._support import lazy
from fedtheory.bounds.proxskip.paper import PAPER as PAPER
from fedtheory.bounds.proxskip.refined import refined_fixed_step_potential as refined_fixed_step_potential
from fedtheory.bounds.proxskip.theorem import fixed_step_potential as fixed_step_potential

if not TYPE_CHECKING:  # a type checker would accept any name if it saw __getattr__
    __getattr__ = lazy.unknown_in(__name__)
