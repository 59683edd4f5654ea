"""Extrapolated server steps, as in FedExP (Jhunjhunwala, Wang, Joshi 2023)."""

from typing import TYPE_CHECKING

from fedtheory._support import lazy
from fedtheory.bounds.fedexp.one_round import one_round as one_round
from fedtheory.bounds.fedexp.paper import PAPER as PAPER

if not TYPE_CHECKING:  # a type checker would accept any name if it saw __getattr__
    __getattr__ = lazy.unknown_in(__name__)
