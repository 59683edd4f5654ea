"""Selection frequencies as a function of the order of the losses: what bounds and searches ask of such a law."""

from dataclasses import replace

import numpy as np

from fedtheory._support.validate import Array, Mask
from fedtheory.selection.laws import Ranked

__all__ = ["among", "largest_product", "largest_totals", "rearranged", "remembering"]


def among(law: Ranked, busy: Mask) -> Ranked:
    """Restrict a law to the clients of positive weight; it must not select the others."""
    if busy.all():
        return law

    def frequencies(values: Array) -> Array:
        everyone = np.zeros(busy.size)
        everyone[busy] = values
        drawn = law.frequencies(everyone)
        if drawn[~busy].any():
            client = int(np.flatnonzero(~busy & (drawn != 0))[0])
            message = (
                f"strategy must not select clients of weight zero, got frequency {drawn[client]} of client {client}"
            )
            raise ValueError(message)
        return drawn[busy]

    return replace(law, frequencies=frequencies)


def remembering(law: Ranked) -> Ranked:
    """Ask a law only once for each order of the clients: a search or a run meets few of them, many times."""
    known: dict[bytes, Array] = {}

    def frequencies(losses: Array) -> Array:
        order = losses.argsort(kind="stable")
        ranked = losses[order]
        key = order.tobytes() + (ranked[1:] == ranked[:-1]).tobytes()
        if key not in known:
            known[key] = law.frequencies(losses)
        return known[key]

    return replace(law, frequencies=frequencies)


def largest_product(law: Ranked, values: Array) -> float:
    """Product of the values with the frequencies that rank by them: the largest one, if large losses are preferred."""
    return float(law.frequencies(values) @ values)


def largest_totals(law: Ranked, weights: Array) -> Array:
    """Upper bounds ``g_n``, n = 1, ..., K, of the total frequency of n clients in any order; concave in n.

    >>> fair = Ranked(lambda losses: np.full(2, 0.5))
    >>> largest_totals(fair, np.full(2, 0.5))
    array([1., 1.])
    """
    if not law.favors_heavy:
        return np.ones(weights.size)
    heaviest = np.argsort(-weights, kind="stable")
    values = np.empty(weights.size)
    values[heaviest] = -np.arange(float(weights.size))
    totals: Array = np.cumsum(law.frequencies(values)[heaviest])
    return totals


def rearranged(law: Ranked, weights: Array, values: Array) -> float:
    """Upper bound of the product of nonnegative values with the frequencies in any order of the clients."""
    if law.prefers_large:
        return largest_product(law, values)
    shares = np.diff(largest_totals(law, weights), prepend=0.0)
    return float(shares @ np.sort(values)[::-1])
