"""Certified intervals for the selection skews of a strategy."""

import math
from fractions import Fraction
from typing import NamedTuple

from fedtheory._support.summary import Summary
from fedtheory._support.wording import outward as to_digits
from fedtheory.statistics.interval import Interval

__all__ = ["SelectionSkew"]

_FREQUENCIES = 1e-13


class SelectionSkew(NamedTuple):
    r"""Certified skews of a selection strategy on a federation, over all models, including those with tied losses.

    Attributes
    ----------
    rho_bar
        ``inf_{w, w'} rho(S(w), w')``: Cho, Wang, Joshi (2020), eq. (6).
    rho_tilde
        ``sup_w rho(S(w), w*)``.
    rho_diagonal
        ``inf_w rho(S(w), w)``, at least rho_bar; used by the corrected convergence theorem.
    """

    rho_bar: Interval[float]
    rho_tilde: Interval[float]
    rho_diagonal: Interval[float]

    def __repr__(self) -> str:
        return self._summary.text

    def _repr_html_(self) -> str:
        return self._summary.html

    @property
    def _summary(self) -> Summary:
        return Summary("SelectionSkew", {name: _sides(one) for name, one in self._asdict().items()})


def _sides(one: Interval[float]) -> str:
    """Return an interval with six digits, rounded outward, and how its sides were obtained."""
    lower, upper = _rounded(one.lower, up=False), _rounded(one.upper, up=True)
    by = one.lower_by if one.lower_by == one.upper_by else f"{one.lower_by}; {one.upper_by}"
    return f"[{lower}, {upper}] ({by})"


def _rounded(side: float, *, up: bool) -> str:
    return to_digits(Fraction(side), 6, up=up) if math.isfinite(side) else str(side)


def outward(lower: float, upper: float, lower_by: str, upper_by: str) -> Interval[float]:
    """Round the sides of a nonnegative number outward by more than the error of the selection frequencies.

    A skew is a quotient of sums of nonnegative numbers and linear in the frequencies. Relative errors of the
    frequencies, at most 3e-15 for few clients and below 1e-13 for thousands, are therefore relative errors of the skew.
    """
    return Interval(lower * (1 - _FREQUENCIES), upper * (1 + _FREQUENCIES), lower_by, upper_by)
