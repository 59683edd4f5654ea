"""Errors and warnings of the library. Each error is a ValueError."""

__all__ = ["AssumptionViolated", "CacheWarning", "DivergenceWarning", "OracleError"]


class AssumptionViolated(ValueError):
    """Raised if a hypothesis of a theorem does not hold for the given numbers."""


class OracleError(ValueError):
    """Raised if the result of an external solver does not satisfy the library's certificate."""


class CacheWarning(UserWarning):
    """Warning that compiled code cannot be cached on disk, so that each process compiles again."""


class DivergenceWarning(UserWarning):
    """Warning that the model of a run stopped being finite, so that its records are NaN from then on."""
