"""Laws of client selection on small federations, outcome by outcome, in rational arithmetic."""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

__all__ = [
    "Law",
    "Selection",
    "average_over",
    "frequencies",
    "independent",
    "merged",
    "power_of_choice",
    "successive",
    "uniform_subsets",
    "with_replacement",
]


class Selection(NamedTuple):
    """One possible selection: the clients, in increasing order and repeated where copies are, and its probability."""

    probability: Fraction
    chosen: tuple[int, ...]


Law = tuple[Selection, ...]


def merged(outcomes: Iterable[Selection]) -> Law:
    """Add up the probabilities of equal selections and drop impossible ones."""
    total: dict[tuple[int, ...], Fraction] = {}
    for probability, chosen in outcomes:
        if probability:
            key = tuple(sorted(chosen))
            total[key] = total.get(key, Fraction(0)) + probability
    return tuple(Selection(probability, chosen) for chosen, probability in sorted(total.items()))


def with_replacement(probabilities: Sequence[Fraction], num_selected: int) -> Law:
    """Draw independently with given probabilities; copies are kept.

    >>> with_replacement([Fraction(1, 2), Fraction(1, 2)], 2)[1]
    Selection(probability=Fraction(1, 2), chosen=(0, 1))
    """
    clients = itertools.product(range(len(probabilities)), repeat=num_selected)
    return merged(Selection(math.prod((probabilities[k] for k in draw), start=Fraction(1)), draw) for draw in clients)


def successive(weights: Sequence[Fraction], num_selected: int) -> Law:
    """Draw one after the other without replacement, each proportional to the weights of those left.

    With weights 1, 2, 3 the pair {0, 1} comes up with probability 1/6 * 2/5 + 2/6 * 1/4 = 3/20:

    >>> successive([1, 2, 3], 2)[0]
    Selection(probability=Fraction(3, 20), chosen=(0, 1))
    """
    return merged(_draw_orders(weights, num_selected))


def _draw_orders(weights: Sequence[Fraction], num_selected: int) -> Iterable[Selection]:
    for order in itertools.permutations(range(len(weights)), num_selected):
        probability, left = Fraction(1), Fraction(sum(weights))
        for client in order:
            if not left:  # only clients of weight zero are left: they never come up
                probability = Fraction(0)
                break
            probability *= Fraction(weights[client]) / left
            left -= weights[client]
        yield Selection(probability, order)


def uniform_subsets(num_clients: int, num_selected: int) -> Law:
    """Draw one of all subsets of a size, equally likely.

    >>> len(uniform_subsets(4, 2)), uniform_subsets(4, 2)[0].probability
    (6, Fraction(1, 6))
    """
    subsets = list(itertools.combinations(range(num_clients), num_selected))
    return tuple(Selection(Fraction(1, len(subsets)), subset) for subset in subsets)


def independent(probabilities: Sequence[Fraction]) -> Law:
    """Take every client by its own coin; the empty selection is one of the outcomes.

    >>> independent([Fraction(1, 2), Fraction(1, 3)])[0]
    Selection(probability=Fraction(1, 3), chosen=())
    """
    outcomes = []
    for included in itertools.product((False, True), repeat=len(probabilities)):
        coins = [Fraction(p if taken else 1 - p) for p, taken in zip(probabilities, included, strict=True)]
        chosen = tuple(k for k, taken in enumerate(included) if taken)
        outcomes.append(Selection(math.prod(coins, start=Fraction(1)), chosen))
    return merged(outcomes)


def power_of_choice(
    weights: Sequence[Fraction], losses: Sequence[Fraction], num_selected: int, num_candidates: int
) -> Law:
    """Draw candidates by ``successive`` and choose those with the largest losses, ties at random.

    With weights 1, 2, 3, two candidates and losses 3, 2, 1 client 0 wins whenever it is a candidate:

    >>> frequencies(power_of_choice([1, 2, 3], [3, 2, 1], 1, 2), 3)
    (Fraction(5, 12), Fraction(7, 12), Fraction(0, 1))
    """
    return merged(
        Selection(candidates.probability * choice.probability, choice.chosen)
        for candidates in successive(weights, num_candidates)
        for choice in _largest(candidates.chosen, losses, num_selected)
    )


def _largest(candidates: Sequence[int], losses: Sequence[Fraction], num_selected: int) -> Iterable[Selection]:
    threshold = sorted((losses[k] for k in candidates), reverse=True)[num_selected - 1]
    above = tuple(k for k in candidates if losses[k] > threshold)
    tied = list(itertools.combinations([k for k in candidates if losses[k] == threshold], num_selected - len(above)))
    return [Selection(Fraction(1, len(tied)), above + some) for some in tied]


def average_over(law: Law, value: Callable[[tuple[int, ...]], Any]) -> Any:
    """Average a function of the selection over the law.

    >>> average_over(uniform_subsets(3, 2), sum)
    Fraction(2, 1)
    """
    return sum(probability * value(chosen) for probability, chosen in law)


def frequencies(law: Law, num_clients: int) -> tuple[Fraction, ...]:
    """Return the expected number of copies of each client, shape (K,); inclusion probabilities if there are no copies.

    >>> frequencies(with_replacement([Fraction(1, 4), Fraction(3, 4)], 2), 2)
    (Fraction(1, 2), Fraction(3, 2))
    """
    return tuple(
        sum((probability * chosen.count(k) for probability, chosen in law), start=Fraction(0))
        for k in range(num_clients)
    )
