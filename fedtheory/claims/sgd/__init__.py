"""Claims about clients that differ at the minimizer."""

from fedtheory._support.discover import lazy_modules

__getattr__, __dir__ = lazy_modules(__name__, __path__[0])
