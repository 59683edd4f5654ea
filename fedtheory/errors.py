"""The few errors of the library, each a ValueError, and its warnings."""

__all__ = ["AssumptionViolated", "CacheWarning", "OracleError"]


class AssumptionViolated(ValueError):
    """A hypothesis of a theorem does not hold for the given numbers."""


class OracleError(ValueError):
    """An outside solver gave no answer that passes our own certificate."""


class CacheWarning(UserWarning):
    """Compiled code cannot be kept on disk: each process compiles anew."""
