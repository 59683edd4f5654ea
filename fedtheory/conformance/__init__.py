"""Does somebody's own code do what its theory says? One file per kind of code; offered by ``ft.verification``."""

from fedtheory._support.discover import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __path__[0])
