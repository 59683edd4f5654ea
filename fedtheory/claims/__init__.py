"""Claims of the library: lemmas, theorems and errata with executable checks, one file or package for each paper.

Modules are imported on first use.
"""

from typing import TYPE_CHECKING

from fedtheory._support import lazy

__getattr__, __dir__, __all__ = lazy.attach(__name__, submodules=["catalogue"])

if TYPE_CHECKING:
    from fedtheory.claims import catalogue as catalogue
