"""A property that is computed once.

Type checkers are told that it is a property: as ``functools`` declares it, pyright refuses a federation where a
Protocol with properties is wanted.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from builtins import property as cached_property
else:
    from functools import cached_property

__all__ = ["cached_property"]
