"""Exact worst cases over a theorem's whole class, as semidefinite programs with certificates in rationals."""

from fedtheory._support.discover import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __path__[0])
