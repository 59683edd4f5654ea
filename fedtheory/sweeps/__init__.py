"""Sweeps: a function or a study at every point of a grid, on threads, processes or a cluster."""

from fedtheory._support.discover import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __path__[0])
