"""Right-hand sides of published theorems: a folder for each paper, or a file for a single theorem."""

from fedtheory._support.discover import lazy_modules

__getattr__, __dir__ = lazy_modules(__name__, __path__[0])
