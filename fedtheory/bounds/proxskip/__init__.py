"""ProxSkip, and Scaffnew, its federated form (Mishchenko, Malinovsky, Stich, Richtarik 2022)."""

from fedtheory._support.discover import lazy_names
from fedtheory.bounds.proxskip._words import PAPER as PAPER

__getattr__, __dir__ = lazy_names(__name__, __path__[0])
