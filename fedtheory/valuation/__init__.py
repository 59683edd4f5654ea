"""Shapley values: what each player adds to a game, exact and estimated, and the axioms that single them out."""

from fedtheory._support.discover import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __path__[0])
