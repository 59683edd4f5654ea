"""Extrapolated server steps, as in FedExP (Jhunjhunwala, Wang, Joshi 2023)."""

from fedtheory.bounds.fedexp.one_round import one_round as one_round
from fedtheory.bounds.fedexp.paper import PAPER as PAPER
