"""The few errors and warnings of the library; every error is a ValueError."""

__all__ = ["AssumptionViolated", "FedtheoryWarning", "OracleError"]


class AssumptionViolated(ValueError):
    """A hypothesis of a theorem does not hold for the given numbers."""


class OracleError(ValueError):
    """An outside solver gave no answer that passes our own certificate."""


class FedtheoryWarning(UserWarning):
    """Something is allowed but worth a look."""
