"""The round loop of ``fedtheory.fedavg``, and its kernels."""

from fedtheory._support.discover import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __path__[0])
