"""What clients and server do in a round besides averaging: control variates, memories, compressed messages, coins."""

from fedtheory._support.discover import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __path__[0])
