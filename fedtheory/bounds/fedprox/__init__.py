"""FedProx: clients solve proximal problems around the server's model, as studied by Li, Sahu and others (2020)."""

from fedtheory._support.discover import lazy_names
from fedtheory.bounds.fedprox._words import PAPER as PAPER

__getattr__, __dir__ = lazy_names(__name__, __path__[0])
