"""Small federations in rational arithmetic: rounds are followed along every path."""

from fedtheory._support.discover import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __path__[0])
