"""Intervals that say how each side was certified."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Self, final

__all__ = ["Interval", "SelectionSkew"]


@final
@dataclass(frozen=True)
class Interval:
    """A number known from both sides; unpacks as (lower, upper).

    Parameters
    ----------
    lower, upper
        The sides.
    lower_by, upper_by
        How each side is known, in a few words.

    Examples
    --------
    >>> lower, upper = Interval(0.5, 0.75, "subset enumeration", "search over models")
    >>> lower, upper
    (0.5, 0.75)
    >>> Interval.exact(2.0, "fixed frequencies").width
    0.0
    """

    lower: float
    upper: float
    lower_by: str
    upper_by: str

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:
            message = (
                f"lower must be at most upper, got {self.lower} ({self.lower_by}) and {self.upper} ({self.upper_by})"
            )
            raise ValueError(message)

    @classmethod
    def exact(cls, value: float, by: str) -> Self:
        """Build the interval of a number that is known up to rounding."""
        return cls(value, value, by, by)

    def __iter__(self) -> Iterator[float]:
        """Yield lower and upper."""
        yield self.lower
        yield self.upper

    @property
    def width(self) -> float:
        """How far the sides are apart."""
        return self.upper - self.lower


class SelectionSkew(NamedTuple):
    r"""The skews of a selection strategy on a federation.

    Attributes
    ----------
    rho_bar
        ``inf_{w, w'} rho(S(w), w')``: Cho, Wang, Joshi (2020), eq. (6).
    rho_tilde
        ``sup_w rho(S(w), w*)``.
    rho_diagonal
        ``inf_w rho(S(w), w)``: the skew that the corrected convergence theorem needs; at least rho_bar.
    """

    rho_bar: Interval
    rho_tilde: Interval
    rho_diagonal: Interval
