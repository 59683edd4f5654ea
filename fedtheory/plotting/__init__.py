"""Plots of errors and bounds: arrays and an Axes in, the Axes out."""

from fedtheory._support.discover import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __path__[0])
