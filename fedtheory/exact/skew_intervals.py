"""Certified intervals for the selection skews of a strategy."""

from typing import NamedTuple

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
        ``inf_w rho(S(w), w)``: the skew that the corrected convergence theorem needs; at least rho_bar.
    """

    rho_bar: Interval[float]
    rho_tilde: Interval[float]
    rho_diagonal: Interval[float]


def outward(lower: float, upper: float, lower_by: str, upper_by: str) -> Interval[float]:
    """Round the sides of a nonnegative number outward, by more than the error of the selection frequencies.

    A skew is a quotient of sums of nonnegative numbers, linear in the frequencies: their relative errors, at most 3e-15
    for few clients and below 1e-13 for thousands, are relative errors of the skew.

    >>> lower, upper = outward(2.0, 3.0, "one road", "another")
    >>> 0 < 2 - lower < 3e-13, 0 < upper - 3 < 4e-13
    (True, True)
    """
    return Interval(lower * (1 - _FREQUENCIES), upper * (1 + _FREQUENCIES), lower_by, upper_by)
