"""Laws of cohorts: finite distributions of tuples of clients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy.typing as npt

from fedtheory._support import validate
from fedtheory.statistics.law import Law

__all__ = ["cohort_law"]

Selection = tuple[int, ...]
"""The selected clients in increasing order; a client that is drawn twice occurs twice."""

_MOST = 10**7  # largest number of subsets that are enumerated


def with_replacement(probabilities: Sequence[Any], num_selected: int) -> Law[Selection]:
    """Law of ``num_selected`` independent draws with the given probabilities, of sum 1; repeated clients are kept."""
    num_selected = validate.size("num_selected", num_selected, 0)
    return (Law(enumerate(validate.entries("probabilities", probabilities))) ** num_selected).map(_in_order)


def successive(weights: Sequence[Any], num_selected: int) -> Law[Selection]:
    """Law of successive draws without replacement, each proportional to the weights of the remaining clients.

    With the positive weights 1, 2, 3 the pair {0, 1} has the probability 1/6 * 2/5 + 2/6 * 1/4 = 3/20:

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
    """Uniform law of all subsets of a size."""
    num_clients = validate.size("num_clients", num_clients, 0)
    num_selected = validate.count("num_selected", num_selected, 0, num_clients)
    if num_selected and math.comb(num_clients, num_selected) > _MOST:
        message = f"num_clients must make at most {_MOST} subsets, got {num_clients} for num_selected={num_selected}"
        raise ValueError(message)
    return Law.uniform(combinations(range(num_clients), num_selected))


def independent(probabilities: Sequence[Any]) -> Law[Selection]:
    """Law of independent inclusion of each client; the empty cohort is one of the outcomes."""
    coins = (Law({True: p, False: 1 - p}) for p in validate.entries("probabilities", probabilities))
    return Law.product(*coins).map(lambda taken: tuple(k for k, is_in in enumerate(taken) if is_in))


def power_of_choice(
    weights: Sequence[Any], losses: Sequence[Any], num_selected: int, num_candidates: int
) -> Law[Selection]:
    """Law of the candidates with the largest losses, with candidates drawn by ``successive`` and ties broken at random.

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
    """Law of the candidates with the largest losses, with ties broken at random; losses are those of all clients."""
    losses, chosen = validate.entries("losses", losses), validate.sequence("candidates", candidates)
    candidates = tuple(validate.count("candidates", k, 0, len(losses) - 1) for k in chosen)
    return _largest(candidates, losses, validate.count("num_selected", num_selected, 1, len(candidates)))


def _largest(candidates: Selection, losses: Sequence[Any], num_selected: int) -> Law[Selection]:
    threshold = sorted((losses[k] for k in candidates), reverse=True)[num_selected - 1]
    surely = tuple(k for k in candidates if losses[k] > threshold)
    tied = [k for k in candidates if losses[k] == threshold]
    return Law.uniform(_in_order(surely + lucky) for lucky in combinations(tied, num_selected - len(surely)))


def frequencies(law: Law[Selection], num_clients: int) -> tuple[Any, ...]:
    """Return the expected multiplicity of each client, shape (K,); without copies, the inclusion probability."""
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
    """Law of the cohort of Power-of-Choice: the m largest losses among d candidates, ties broken at random.

    At most 16 clients have nonnegative weights with any positive sum, at least d of them positive. Integers and
    Fractions give exact Fractions. Cohorts of probability 0 are omitted.

    >>> cohort_law([1, 1, 1], [3, 2, 1], num_selected=1, num_candidates=2)
    Law({frozenset({0}): 2/3, frozenset({1}): 1/3})
    """
    given, ranked = validate.entries("weights", weights), validate.entries("losses", losses)
    validate.count("the number of weights", len(given), 1, _LARGEST)
    validate.probability_vector("weights", [validate.double("weights", one) for one in given], normalize=True)
    return power_of_choice(given, ranked, num_selected, num_candidates).map(frozenset)
