"""Federated averaging with unbiased selection, as studied by Li, Huang, Yang, Wang, Zhang (2020)."""

from fedtheory._support.discover import lazy_names
from fedtheory.bounds.fedavg._words import PAPER as PAPER

__getattr__, __dir__ = lazy_names(__name__, __path__[0])
