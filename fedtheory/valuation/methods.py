"""Valuation methods for the clients of a round."""

from dataclasses import dataclass
from typing import final

from fedtheory._support import validate

__all__ = ["Valuation"]


@final
@dataclass(frozen=True)
class Valuation:
    """A valuation method for the clients of a round.

    The value of a coalition of the round's clients is the negative loss, on the server's validation samples, of the
    average of its members' models with the coefficients of the aggregation. That of the empty coalition is the negative
    loss of the model before the round.

    Parameters
    ----------
    method
        ``exact`` asks for all coalitions, ``gtg`` walks random orders that are truncated (``gtg_shapley``),
        ``permutation`` walks random orders (``permutation_shapley``). Each coalition is evaluated at most once.
    tolerance
        eps of ``gtg``.
    num_permutations
        Orders of ``permutation``.

    Raises
    ------
    ValueError, TypeError
        If the method is unknown, the tolerance negative, or the number not positive.

    Examples
    --------
    >>> Valuation("permutation", num_permutations=50)
    Valuation(method='permutation', tolerance=0.0001, num_permutations=50)
    """

    method: str = "gtg"
    tolerance: float = 1e-4
    num_permutations: int = 200

    def __post_init__(self) -> None:
        validate.choice("method", self.method, ("exact", "gtg", "permutation"))
        validate.nonnegative("tolerance", validate.one("tolerance", self.tolerance))
        validate.count("num_permutations", self.num_permutations)
