"""Laws of cohorts: finite distributions of tuples of clients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.wording import format_number
from fedtheory.statistics.law import Law

__all__ = ["cohort_law"]

Selection = tuple[int, ...]
"""The selected clients in increasing order; a client that is drawn twice occurs twice."""

_MOST = 10**7  # largest number of subsets that are enumerated


def with_replacement(probabilities: Sequence[Any], num_selected: int) -> Law[Selection]:
    """Law of ``num_selected`` independent draws with the given probabilities, of sum 1; repeated clients are kept.

    >>> with_replacement([0.25, 0.75], 2)
    Law({(0, 0): 0.0625, (0, 1): 0.375, (1, 1): 0.5625})
    """
    num_selected = validate.size("num_selected", num_selected, 0)
    return (Law(enumerate(validate.entries("probabilities", probabilities))) ** num_selected).map(_in_order)


def successive(weights: Sequence[Any], num_selected: int) -> Law[Selection]:
    r"""Law of successive draws without replacement, each proportional to the weights of the remaining clients.

    Weights are positive and need not sum to 1. ``P(A) = sum_{i in A} P(A - i) p_i / (sum of p outside A - i)``: the
    last draw was i. With weights 1, 2, 3 the pair {0, 1} has the probability 1/6 * 2/5 + 2/6 * 1/4 = 3/20:

    >>> successive([1, 2, 3], 2)
    Law({(0, 1): 3/20, (0, 2): 4/15, (1, 2): 7/12})
    """
    weights = validate.entries("weights", weights)
    num_selected = validate.count("num_selected", num_selected, 0, len(weights))

    def one_more(drawn: frozenset[int]) -> Law[frozenset[int]]:
        return Law.proportional({drawn | {k}: weight for k, weight in enumerate(weights) if k not in drawn})

    law = Law.certain(frozenset[int]())
    for _ in range(num_selected):
        law = law.then(one_more)
    return law.map(_in_order)


def uniform_subsets(num_clients: int, num_selected: int) -> Law[Selection]:
    """Uniform law of all subsets of a size.

    >>> uniform_subsets(3, 2)
    Law({(0, 1): 1/3, (0, 2): 1/3, (1, 2): 1/3})
    """
    num_clients = validate.size("num_clients", num_clients, 0)
    num_selected = validate.count("num_selected", num_selected, 0, num_clients)
    if num_selected and math.comb(num_clients, num_selected) > _MOST:
        message = f"num_clients must make at most {_MOST} subsets, got {num_clients} for num_selected={num_selected}"
        raise ValueError(message)
    return Law.uniform(combinations(range(num_clients), num_selected))


def independent(probabilities: Sequence[Any]) -> Law[Selection]:
    """Law of independent inclusion of each client; the empty cohort is one of the outcomes.

    >>> independent([0.5, 0.25])
    Law({(0, 1): 0.125, (0,): 0.375, (1,): 0.125, (): 0.375})
    """
    coins = (Law({True: p, False: 1 - p}) for p in validate.entries("probabilities", probabilities))
    return Law.product(*coins).map(lambda taken: tuple(k for k, is_in in enumerate(taken) if is_in))


def power_of_choice(
    weights: Sequence[Any], losses: Sequence[Any], num_selected: int, num_candidates: int
) -> Law[Selection]:
    """Law of the candidates with the largest losses, with candidates drawn by ``successive`` and ties broken at random.

    With weights 1, 2, 3, two candidates and losses 3, 2, 1, client 0 is selected if it is a candidate:

    >>> power_of_choice([1, 2, 3], [3, 2, 1], 1, 2)
    Law({(0,): 5/12, (1,): 7/12})
    """
    candidates = successive(weights, num_candidates)
    losses = validate.entries("losses", losses)
    if len(losses) != len(weights):
        message = f"losses must have shape ({len(weights)},), got ({len(losses)},)"
        raise ValueError(message)
    m = validate.count("num_selected", num_selected, high=num_candidates)
    return candidates.then(lambda members: _largest(members, losses, m))


def largest(candidates: Selection, losses: Sequence[Any], num_selected: int) -> Law[Selection]:
    """Law of the candidates with the largest losses, with ties broken at random; losses are those of all clients.

    >>> largest((0, 2, 3), [5, 9, 5, 7], 2)
    Law({(0, 3): 1/2, (2, 3): 1/2})
    """
    losses, chosen = validate.entries("losses", losses), validate.sequence("candidates", candidates)
    candidates = tuple(validate.count("candidates", k, 0, len(losses) - 1) for k in chosen)
    return _largest(candidates, losses, validate.count("num_selected", num_selected, 1, len(candidates)))


def _largest(candidates: Selection, losses: Sequence[Any], num_selected: int) -> Law[Selection]:
    threshold = sorted((losses[k] for k in candidates), reverse=True)[num_selected - 1]
    surely = tuple(k for k in candidates if losses[k] > threshold)
    tied = [k for k in candidates if losses[k] == threshold]
    return Law.uniform(_in_order(surely + lucky) for lucky in combinations(tied, num_selected - len(surely)))


def frequencies(law: Law[Selection], num_clients: int) -> tuple[Any, ...]:
    """Return the expected multiplicity of each client, shape (K,); without copies, the inclusion probability.

    >>> frequencies(with_replacement([0.25, 0.75], 2), 2)
    (0.5, 1.5)
    """
    num_clients = validate.size("num_clients", num_clients)

    def copies(client: int) -> Any:
        return law.mean(lambda chosen: chosen.count(client))

    return tuple(map(copies, range(num_clients)))


def _in_order(clients: Any) -> Selection:
    return tuple(sorted(clients))


_LARGEST = 16


def cohort_law(
    weights: Sequence[Any] | npt.NDArray[Any],
    losses: Sequence[Any] | npt.NDArray[Any],
    num_selected: int,
    num_candidates: int,
) -> Law[frozenset[int]]:
    r"""Law of the cohort of Power-of-Choice: the m largest losses among d candidates.

    Cohorts of probability 0 are omitted.

    Parameters
    ----------
    weights
        At most 16 nonnegative weights with any positive sum, at least d of them positive. Integers and Fractions give
        exact Fractions.
    losses
        Losses that rank the clients; ties are broken uniformly at random.
    num_selected, num_candidates
        m and d, with 1 <= m <= d.

    Examples
    --------
    For two candidates of three clients, client 0 has the largest loss unless clients 1 and 2 are drawn.

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
        got = format_number(d)
        message = f"num_candidates must be at most the number of clients with positive weight, {positive}, got {got}"
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
