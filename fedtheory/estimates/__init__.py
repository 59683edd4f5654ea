"""What is estimated about a run: by Monte Carlo, or by an approximation that is no bound of either sign."""

from fedtheory._support.discover import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __path__[0])
