"""A property that is computed once.

For type checkers it is a property, since with the declaration in ``functools`` pyright rejects a federation as an
implementation of a Protocol with properties.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from builtins import property as cached_property
else:
    from functools import cached_property

__all__ = ["cached_property"]
