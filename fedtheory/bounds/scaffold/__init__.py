"""SCAFFOLD (Karimireddy, Kale, Mohri, Reddi, Stich, Suresh 2020) with all clients and exact gradients."""

from fedtheory._support.discover import lazy_names
from fedtheory.bounds.scaffold._words import PAPER as PAPER

__getattr__, __dir__ = lazy_names(__name__, __path__[0])
