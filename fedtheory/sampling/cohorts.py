"""Law of the whole cohort of Power-of-Choice, by enumeration of all candidate sets."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.wording import shown
from fedtheory.sampling._selections import power_of_choice
from fedtheory.statistics.law import Law

__all__ = ["cohort_law"]

_LARGEST = 16


def cohort_law(
    weights: Sequence[Any] | npt.NDArray[Any],
    losses: Sequence[Any] | npt.NDArray[Any],
    num_selected: int,
    num_candidates: int,
) -> Law[frozenset[int]]:
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
    Law
        The cohorts of positive probability with their probabilities.

    Raises
    ------
    ValueError
        If m > d, there are more than 16 clients, or fewer than d of positive weight.

    Examples
    --------
    Among two candidates of three clients the largest loss is that of client 0 unless 1 and 2 are drawn.

    >>> cohort_law([1, 1, 1], [3, 2, 1], num_selected=1, num_candidates=2)
    Law({frozenset({0}): 2/3, frozenset({1}): 1/3})
    """
    given, ranked = validate.sequence("weights", weights), validate.sequence("losses", losses)
    if len(ranked) != len(given):
        message = f"losses must have shape ({len(given)},), got ({len(ranked)},)"
        raise ValueError(message)
    for loss in ranked:
        validate.double("losses", loss)
    p, d = _drawable(given, num_candidates)
    m = validate.count("num_selected", num_selected, high=d)
    return power_of_choice(p, ranked, m, d).map(frozenset)


def _drawable(weights: Any, num_candidates: int) -> tuple[list[Any], int]:
    p = _numbers(weights)
    d = validate.count("num_candidates", num_candidates)
    positive = sum(weight > 0 for weight in p)
    if d > positive:
        message = (
            f"num_candidates must be at most the number of clients with positive weight, {positive}, got {shown(d)}"
        )
        raise ValueError(message)
    return p, d


def _numbers(weights: Any) -> list[Any]:
    given = validate.sequence("weights", weights)
    plain = [weight.item() if isinstance(weight, np.generic) else weight for weight in given]
    exact = all(isinstance(weight, int | Fraction) and not isinstance(weight, bool) for weight in plain)
    numbers = [Fraction(weight) if exact else validate.double("weights", weight) for weight in plain]
    if not 1 <= len(numbers) <= _LARGEST:
        message = f"weights must belong to 1..{_LARGEST} clients for an enumeration, got {len(numbers)}"
        raise ValueError(message)
    validate.probability_vector(
        "weights", np.asarray([validate.double("weights", number) for number in numbers]), normalize=True
    )
    return numbers
