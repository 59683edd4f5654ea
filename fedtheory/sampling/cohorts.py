"""The law of the whole cohort of Power-of-Choice, by enumeration of all candidate sets."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from fedtheory import _validate
from fedtheory._wording import shown

__all__ = ["candidate_law", "cohort_law"]

_LARGEST = 16


def candidate_law(weights: Sequence[Any] | npt.NDArray[Any], num_candidates: int) -> dict[frozenset[int], Any]:
    r"""Probability of every set of d clients drawn without replacement with probability proportional to the weights.

    ``P(A) = sum_{i in A} P(A - i) p_i / (sum of p outside A - i)``: the last draw was i.

    Parameters
    ----------
    weights
        Non-negative weights of any positive sum, at most 16 of them. Integers and Fractions give exact Fractions.
    num_candidates
        d.

    Returns
    -------
    dict
        The sets of positive probability with their probabilities.

    Raises
    ------
    ValueError
        If there are more than 16 clients, or fewer than d of positive weight.

    Examples
    --------
    >>> law = candidate_law([1, 2, 3], 2)
    >>> law[frozenset({0, 1})]  # 1/6 2/5 + 2/6 1/4
    Fraction(3, 20)
    """
    p = _numbers(weights)
    d = _validate.count("num_candidates", num_candidates)
    drawable = [k for k, weight in enumerate(p) if weight > 0]
    if d > len(drawable):
        got = shown(d)
        message = (
            f"num_candidates must be at most the number of clients with positive weight, {len(drawable)}, got {got}"
        )
        raise ValueError(message)
    law: dict[frozenset[int], Any] = {frozenset(): sum(p) / sum(p)}
    for _ in range(d):
        larger: dict[frozenset[int], Any] = {}
        for drawn, probability in law.items():
            rest = [k for k in drawable if k not in drawn]
            share = probability / sum(p[k] for k in rest)
            for k in rest:
                larger[drawn | {k}] = larger.get(drawn | {k}, 0) + share * p[k]
        law = larger
    return law


def cohort_law(
    weights: Sequence[Any] | npt.NDArray[Any],
    losses: Sequence[Any] | npt.NDArray[Any],
    num_selected: int,
    num_candidates: int,
) -> dict[frozenset[int], Any]:
    r"""Probability of every cohort that Power-of-Choice can select: the m largest losses among d candidates.

    Parameters
    ----------
    weights
        Non-negative weights of any positive sum, at most 16 of them. Integers and Fractions give exact Fractions.
    losses
        The losses that rank the clients; ties are broken uniformly at random.
    num_selected, num_candidates
        m and d, with 1 <= m <= d.

    Returns
    -------
    dict
        The cohorts of positive probability with their probabilities.

    Raises
    ------
    ValueError
        If m > d, there are more than 16 clients, or fewer than d of positive weight.

    Examples
    --------
    Among two candidates of three clients the largest loss is that of client 0 unless 1 and 2 are drawn.

    >>> cohort_law([1, 1, 1], [3, 2, 1], num_selected=1, num_candidates=2)
    {frozenset({0}): Fraction(2, 3), frozenset({1}): Fraction(1, 3)}
    """
    if len(losses) != len(weights):
        message = f"losses must have shape ({len(weights)},), got ({len(losses)},)"
        raise ValueError(message)
    _validate.array("losses", np.asarray([float(loss) for loss in losses]))
    d = _validate.count("num_candidates", num_candidates)
    m = _validate.count("num_selected", num_selected, high=d)
    law: dict[frozenset[int], Any] = {}
    for candidates, probability in candidate_law(weights, d).items():
        surely, equals, places = _ranked(candidates, losses, m)
        for lucky in combinations(equals, places):
            cohort = frozenset(surely + lucky)
            law[cohort] = law.get(cohort, 0) + probability / comb(len(equals), places)
    return law


def _ranked(candidates: frozenset[int], losses: Any, m: int) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Clients that are surely selected, those that draw for the remaining places, and the number of these places."""
    threshold = sorted((losses[k] for k in candidates), reverse=True)[m - 1]
    surely = tuple(k for k in sorted(candidates) if losses[k] > threshold)
    equals = tuple(k for k in sorted(candidates) if losses[k] == threshold)
    return surely, equals, m - len(surely)


def _numbers(weights: Any) -> list[Any]:
    plain = [weight.item() if isinstance(weight, np.generic) else weight for weight in weights]
    exact = all(isinstance(weight, int | Fraction) and not isinstance(weight, bool) for weight in plain)
    numbers = [Fraction(weight) if exact else float(weight) for weight in plain]
    if not 1 <= len(numbers) <= _LARGEST:
        message = f"weights must belong to 1..{_LARGEST} clients for an enumeration, got {len(numbers)}"
        raise ValueError(message)
    _validate.probability_vector("weights", np.asarray([float(number) for number in numbers]), normalize=True)
    return numbers
