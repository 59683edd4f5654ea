"""Claims about GreedyFed: Shapley values of the clients of a round, their estimates, and choices by them."""

from fedtheory._support.discover import lazy_modules

__getattr__, __dir__ = lazy_modules(__name__, __path__[0])
