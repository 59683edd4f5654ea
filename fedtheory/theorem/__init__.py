"""What a theorem is: a formula with its source, hypotheses, symbols, and arithmetic that keeps its digits."""

from fedtheory._support.discover import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __path__[0])
