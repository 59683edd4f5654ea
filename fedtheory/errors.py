"""The exceptions of the library, all of which are ValueErrors, and its warnings."""

__all__ = ["AssumptionViolated", "CacheWarning", "OracleError"]


class AssumptionViolated(ValueError):
    """A hypothesis of a theorem does not hold for the given numbers."""


class OracleError(ValueError):
    """The result of an external solver does not satisfy the library's certificate."""


class CacheWarning(UserWarning):
    """Compiled code cannot be cached on disk, so that each process compiles it again."""
