"""The few errors of the library; each is a ValueError."""

__all__ = ["AssumptionViolated", "OracleError"]


class AssumptionViolated(ValueError):
    """A hypothesis of a theorem does not hold for the given numbers."""


class OracleError(ValueError):
    """An outside solver gave no answer that passes our own certificate."""
