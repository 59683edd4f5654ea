"""How fast averaging and normalized averaging with a fixed step size come to their own stationary points."""

from fedtheory._support.discover import lazy_names
from fedtheory.bounds.stationary._words import PAPER as PAPER

__getattr__, __dir__ = lazy_names(__name__, __path__[0])
