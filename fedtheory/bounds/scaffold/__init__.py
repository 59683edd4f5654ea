"""SCAFFOLD (Karimireddy, Kale, Mohri, Reddi, Stich, Suresh 2020) with all clients and exact gradients."""

from typing import TYPE_CHECKING

from fedtheory._support import lazy
from fedtheory.bounds.scaffold.any_step_size import one_round as one_round
from fedtheory.bounds.scaffold.horizon import fixed_step_potential as fixed_step_potential
from fedtheory.bounds.scaffold.option_one import option_one_round as option_one_round
from fedtheory.bounds.scaffold.paper import PAPER as PAPER

if not TYPE_CHECKING:  # a type checker would accept any name if it saw __getattr__
    __getattr__ = lazy.unknown_in(__name__)
