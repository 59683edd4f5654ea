"""Exact laboratory: small federations and rounds in rational arithmetic, followed along every path."""

from fedtheory._support.discover import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __path__[0])
