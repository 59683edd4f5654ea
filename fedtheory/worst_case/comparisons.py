"""Comparison of a bound's value with the exact worst case of its class."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple

from fedtheory._support.summary import Summary
from fedtheory._support.wording import format_number, truncate
from fedtheory.theorem.bound import Bound, is_bound
from fedtheory.theorem.worst_case_problem import WorstCaseProblem
from fedtheory.worst_case._vectors import exact
from fedtheory.worst_case.worst_cases import WorstCase

__all__ = ["Comparison", "Sensitivity", "compare"]

# Names that a bound may use for a constant of its worst case.
_NAMES = {
    "distance2": ("distance2", "initial_distance2"),
    "gradient_noise": ("sigma2", "weighted_sigma2"),
    "gap": ("initial_gap",),
}


class Sensitivity(NamedTuple):
    """Derivatives of a bound's value and of the worst case with respect to a constant."""

    bound: Fraction
    worst_case: Fraction


class Comparison(NamedTuple):
    """The value of a bound and the worst case.

    Attributes
    ----------
    bound_value
        Value of the bound. If the proof bounds a squared distance and multiplies it by L/2 at the end, the squared
        distance.
    worst_case
        Worst case under the bound's hypotheses.
    remark
        Difference between the class of the bound and that of the worst case, if there is one.
    sensitivities
        Sensitivities by the name of a constant of the worst case. The sensitivity of the worst case is its multiplier
        in the lemma. If the sensitivity of the bound is much larger, the proof of the bound is loose in this constant.
    """

    bound_value: Fraction
    worst_case: WorstCase
    remark: str = ""
    sensitivities: Mapping[str, Sensitivity] = MappingProxyType({})

    @property
    def looseness(self) -> float:
        """Ratio of the bound's value to the worst case; inverted if both are negative, as for a decrease.

        Raises OracleError if the worst case is not known.
        """
        value, worst = float(self.bound_value), self.worst_case.value
        if not worst:
            return 1.0 if not value else math.inf
        reached = float(self.worst_case.enclosure[0])  # the midpoint may be above the worst case
        return reached / value if value < 0 else value / reached

    def __repr__(self) -> str:
        return self._summary.text

    def _repr_html_(self) -> str:
        return self._summary.html

    @property
    def _summary(self) -> Summary:
        rows = {"bound value": format_number(self.bound_value), "worst case": self.worst_case, "remark": self.remark}
        return Summary("Comparison", {name: value for name, value in rows.items() if value != ""})


def compare(bound: Bound, **arguments: int | Fraction) -> Comparison:
    """Evaluate a bound and the exact worst case for the same constants.

    Raises ValueError if no worst case of the bound is known. Raises AssumptionViolated if the bound's hypotheses do not
    hold.

    Parameters
    ----------
    bound
        A bound whose worst case is known.
    arguments
        Arguments of the bound, by name. Horizons must be whole rounds.

    Examples
    --------
    >>> from fractions import Fraction as Q
    >>> from fedtheory.bounds import power_of_choice as poc
    >>> found = compare(poc.one_round, distance2=Q(1), step_size=Q(1, 4), mu=Q(1, 10), L=Q(1), local_steps=1,
    ...                 num_selected=1, sigma2=Q(0), objective_gap=Q(1, 2), rho_diagonal=Q(6, 5), rho_tilde=Q(2))
    >>> found.bound_value, round(found.looseness, 5)
    (Fraction(491, 400), 1.0)
    """
    if not is_bound(bound):
        message = f"bound must be a bound of the library, got {truncate(bound)}"
        raise TypeError(message)
    found = compared(bound, arguments)
    # The decrease that a bound guarantees has the opposite sign.
    constants = {**arguments, "gap": 0} if "gap" in arguments else arguments
    return found._replace(sensitivities=sensitivities(bound, constants, found))


def compared(bound: Bound, arguments: Mapping[str, Any], problem: WorstCaseProblem | None = None) -> Comparison:
    """Compare a bound with its worst case, by default the bound's own, without sensitivities.

    Lemma B.1, ``|grad F_k(w)|^2 <= 2 L (F_k(w) - F_k*)``, with L = 3/2 and a gap of 1/3: both sides reach 1.

    >>> from fractions import Fraction as Q
    >>> from fedtheory.bounds import power_of_choice as poc
    >>> found = compared(poc.gradient_norm, {"excess": Q(1, 3), "L": Q(3, 2)})
    >>> found.bound_value, round(found.worst_case.value, 6), dict(found.sensitivities)
    (Fraction(1, 1), 1.0, {})
    """
    problem = problem or bound.worst_case
    if problem is None:
        message = f"bound must be one with a worst case (docs/theory/looseness.md lists them), got {bound.__name__}"
        raise ValueError(message)
    bound(**arguments, strict=False)  # The call raises an error for missing, misspelled or invalid arguments.
    given = {name: _rational(name, value) for name, value in arguments.items()}
    found = problem.solve(bound, given)
    return found if isinstance(found, Comparison) else Comparison(bound(**given), found)


def _rational(name: str, value: Any) -> Any:
    """Return a number, or a list of numbers, after checking that it is rational."""
    return [exact(name, one) for one in value] if isinstance(value, Sequence) else exact(name, value)


def sensitivities(bound: Bound, given: Mapping[str, Any], found: Comparison) -> dict[str, Sensitivity]:
    """Return the derivatives by the constants; the bound is affine in them, or a maximum of two affine functions."""
    multipliers = found.worst_case.multipliers
    own = {name: next((n for n in (name, *_NAMES.get(name, ())) if n in given), None) for name in (*multipliers, "G2")}
    value, _ = bound(**given, strict=False)
    scale = Fraction(found.bound_value) / Fraction(value) if value else Fraction(1)
    return {
        name: Sensitivity(scale * _slope(bound, given, mine, value), multipliers.get(name, Fraction(0)))
        for name, mine in own.items()
        if mine is not None
    }


def _slope(bound: Bound, given: Mapping[str, Any], name: str, value: Any) -> Fraction:
    step = Fraction(given[name]) / 1000 or Fraction(1, 1000)
    more, _ = bound(**{**given, name: given[name] + step}, strict=False)
    return (Fraction(more) - Fraction(value)) / step
