"""Stochastic gradients that differ at the minimizer: one client drawn at a time, or all with local steps."""

from fedtheory._support.discover import lazy_names
from fedtheory.bounds.sgd._words import PAPER as PAPER

__getattr__, __dir__ = lazy_names(__name__, __path__[0])
