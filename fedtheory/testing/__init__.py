"""Tools for tests of one's own: named checks for pytest, and Hypothesis strategies for the objects of this package."""

from fedtheory._support.discover import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __path__[0])
