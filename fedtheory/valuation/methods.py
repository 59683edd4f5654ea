"""Valuation methods for the clients of a round."""

from dataclasses import dataclass
from typing import Literal, final, get_args

from fedtheory._support import validate

__all__ = ["Valuation"]

ValuationMethod = Literal["exact", "gtg"]


@final
@dataclass(frozen=True)
class Valuation:
    """A valuation method for the clients of a round.

    The utility of a coalition of the round's clients is the negative loss, on the server's validation samples, of the
    average of its models with the coefficients of the aggregation. That of the empty coalition is the negative loss of
    the model before the round.

    Parameters
    ----------
    method
        ``exact`` evaluates all coalitions, ``gtg`` truncated random orders (``gtg_shapley``). Each coalition is
        evaluated at most once.
    tolerance
        Tolerance eps of ``gtg``.
    """

    method: ValuationMethod = "gtg"
    tolerance: float = 1e-4

    def __post_init__(self) -> None:
        validate.choice("method", self.method, get_args(ValuationMethod))
        validate.nonnegative("tolerance", validate.one("tolerance", self.tolerance))
