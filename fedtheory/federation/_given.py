"""What a caller gives as a federation."""

from typing import Any

from fedtheory._support.wording import short
from fedtheory.federation.prioritized import Prioritized
from fedtheory.federation.protocol import Federation

__all__ = ["federation_given", "unwrapped"]

_NEEDED = ("num_clients", "dim", "weights")


def unwrapped(fed: Any) -> Any:
    """Return what was given, of a prioritized federation that of all clients, whose weights are the objective's."""
    return fed.federation if isinstance(fed, Prioritized) else fed


def federation_given(fed: Any, name: str = "fed") -> Federation:
    """Return a federation, of a prioritized one that of all clients.

    Raises
    ------
    TypeError
        If it is none.
    """
    fed = unwrapped(fed)
    if isinstance(fed, type) or not all(hasattr(fed, attribute) for attribute in _NEEDED):
        got = f"the class {fed.__name__}" if isinstance(fed, type) else short(fed)
        message = f"{name} must be a federation, with {', '.join(_NEEDED)}, got {got}"
        raise TypeError(message)
    return fed  # type: ignore[no-any-return]
