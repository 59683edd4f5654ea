"""PEPit's gallery in the problem language: methods of the literature, PEPit's results, and theory.

Each example is written from the mathematics of its source. ``pepit`` is the result of PEPit 0.5.1 with Clarabel for the
same constants, a float with about six correct digits. ``theory`` is the exact value, and ``bound`` is an upper bound
from a paper, if there is one. Irrational constants are replaced by rationals (``near``), which changes values by less
than 1e-10.
"""

import importlib
import pkgutil

from tests.worst_case.gallery.examples import Example

__all__ = ["GALLERY", "Example"]

GALLERY = [
    one
    for module in pkgutil.iter_modules(__path__)
    for one in vars(importlib.import_module(f"{__name__}.{module.name}")).values()
    if isinstance(one, Example)
]
