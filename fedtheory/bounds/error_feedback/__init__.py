"""Compressed communication with a memory of what was left out: error feedback, EF21, and none at all."""

from fedtheory._support.discover import lazy_names
from fedtheory.bounds.error_feedback._words import PAPER as PAPER

__getattr__, __dir__ = lazy_names(__name__, __path__[0])
