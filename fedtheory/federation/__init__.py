"""Problem families: a federation's losses, gradients, minimizers and constants."""

from fedtheory._support.discover import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __path__[0])
