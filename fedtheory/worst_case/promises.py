"""What bounds promise beside the exact worst case of the class that they speak about."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from fedtheory._support.wording import short
from fedtheory.theorem.bound import Bound, is_bound
from fedtheory.worst_case import (
    _ways_of_biased_selection,
    _ways_of_control_variates,
    _ways_of_fedalign,
    _ways_of_fedavg,
    _ways_of_optimal_sampling,
    _ways_of_rounds,
)
from fedtheory.worst_case._confrontations import Charge, Confrontation, Way
from fedtheory.worst_case._gram import exact

__all__ = ["confront"]

CONFRONTED: Mapping[Bound, Way] = {
    **_ways_of_biased_selection.WAYS,
    **_ways_of_fedavg.WAYS,
    **_ways_of_optimal_sampling.WAYS,
    **_ways_of_fedalign.WAYS,
    **_ways_of_rounds.WAYS,
    **_ways_of_control_variates.WAYS,
}
"""The bounds whose worst case is known, each with the way to it."""

# What a constant of a worst case may be called by a bound.
_NAMES = {"distance2": ("distance2", "initial_distance2"), "gradient_noise": ("sigma2", "weighted_sigma2")}


def confront(bound: Bound, **arguments: Any) -> Confrontation:
    """Evaluate a bound and the exact worst case for the same constants.

    Parameters
    ----------
    bound
        One of ``CONFRONTED``.
    arguments
        Of the bound, by name. Horizons must be whole rounds.

    Returns
    -------
    Confrontation
        The promise, the worst case between two rationals, and what each constant costs.

    Raises
    ------
    TypeError
        If an argument is missing or misspelled, or is neither an integer nor a fraction.
    ValueError
        If no worst case of the bound is known, or an argument is unsuitable.
    AssumptionViolated
        If the bound's hypotheses do not hold.

    Examples
    --------
    >>> from fractions import Fraction as Q
    >>> from fedtheory.bounds import power_of_choice as poc
    >>> found = confront(poc.one_round, distance2=Q(1), step_size=Q(1, 4), mu=Q(1, 10), L=Q(1), local_steps=1,
    ...                  num_selected=1, sigma2=Q(0), objective_gap=Q(1, 2), rho_diagonal=Q(6, 5), rho_tilde=Q(2))
    >>> found.promise, round(found.looseness, 5)
    (Fraction(491, 400), 1.0)
    >>> found.charges["objective_gap"].promise, round(float(found.charges["objective_gap"].worst), 4)
    (Fraction(11, 20), 0.55)
    """
    if not is_bound(bound):
        message = f"bound must be a bound of the library, got {short(bound)}"
        raise TypeError(message)
    found = compared(bound, arguments)
    # A descent stands on the other side.
    constants = {**arguments, "gap": 0} if "gap" in arguments else arguments
    return found._replace(charges=_charges(bound, constants, found))


def compared(bound: Bound, arguments: Mapping[str, Any]) -> Confrontation:
    """Confront without the cost of single constants; the bound is evaluated once.

    Parameters
    ----------
    bound
        One of ``CONFRONTED``.
    arguments
        Of the bound, by name.

    Returns
    -------
    Confrontation
        The promise beside the worst case, without charges.

    Raises
    ------
    ValueError
        If no worst case of the bound is known, or the bound refuses its arguments.

    Examples
    --------
    Lemma B.1, ``|grad F_k(w)|^2 <= 2 L (F_k(w) - F_k*)``, with L = 3/2 and a gap of 1/3: both sides reach 1.

    >>> from fractions import Fraction as Q
    >>> from fedtheory.bounds import power_of_choice as poc
    >>> found = compared(poc.gradient_norm, {"excess": Q(1, 3), "L": Q(3, 2)})
    >>> found.promise, round(found.worst.value, 6), dict(found.charges)
    (Fraction(1, 1), 1.0, {})
    """
    for known, way in CONFRONTED.items():
        if known is bound:
            bound(**arguments, strict=False)  # which says what is missing, misspelled, or may not be
            return way(bound, {name: _rational(name, value) for name, value in arguments.items()})
    names = ", ".join(sorted(f"{known.statement.paper.key}: {known.__name__}" for known in CONFRONTED))
    message = f"bound must be one whose worst case is known, got {bound.__name__} (known: {names})"
    raise ValueError(message)


def _rational(name: str, value: Any) -> Any:
    """Return a number, or a list of numbers, that is rational."""
    return [exact(name, one) for one in value] if isinstance(value, Sequence) else exact(name, value)


def _charges(bound: Bound, given: Mapping[str, Any], found: Confrontation) -> dict[str, Charge]:
    """Compare what constants cost; the promise is affine in them, or a maximum of two such numbers."""
    multipliers = found.worst.multipliers
    own = {name: next((n for n in _NAMES.get(name, (name,)) if n in given), None) for name in (*multipliers, "G2")}
    value, _ = bound(**given, strict=False)
    scale = Fraction(found.promise) / Fraction(value) if value else Fraction(1)
    return {
        name: Charge(scale * _growth(bound, given, mine, value), multipliers.get(name, Fraction(0)))
        for name, mine in own.items()
        if mine is not None
    }


def _growth(bound: Bound, given: Mapping[str, Any], name: str, value: Any) -> Fraction:
    step = Fraction(given[name]) / 1000 or Fraction(1, 1000)
    more, _ = bound(**{**given, name: given[name] + step}, strict=False)
    return (Fraction(more) - Fraction(value)) / step
