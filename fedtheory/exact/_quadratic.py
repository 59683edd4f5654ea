"""The check at every door of this package: exact answers need quadratic clients."""

from typing import Any

from fedtheory.federation.quadratic import QuadraticFederation

__all__ = ["quadratic"]


def quadratic(fed: Any) -> QuadraticFederation:
    """Return the federation if it is quadratic."""
    if not isinstance(fed, QuadraticFederation):
        message = f"fed must be a QuadraticFederation, got {type(fed).__name__}"
        raise TypeError(message)
    return fed
