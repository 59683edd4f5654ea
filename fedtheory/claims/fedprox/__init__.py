"""Claims about FedProx's theorem."""

from fedtheory._support.discover import lazy_modules

__getattr__, __dir__ = lazy_modules(__name__, __path__[0])
