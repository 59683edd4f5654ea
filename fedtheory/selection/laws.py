r"""Selection laws of strategies, for exact computations.

A strategy's ``law(weights)`` returns one of the four values below, or None if its law is not known: because it looks
at updates or at noisy losses, has a memory, or depends on who is available.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, final

from fedtheory._support import validate
from fedtheory._support.validate import Array

__all__ = ["Fixed", "Moments", "Ranked", "Scheduled"]


class Moments(NamedTuple):
    """Moments of the coefficients omega_k of the clients' updates, if they do not depend on the model.

    ``E omega_k = mean_k``, ``E omega_k omega_l = alpha mean_k mean_l`` for k != l,
    ``E omega_k^2 = alpha mean_k^2 + delta_k``; ``noise_k`` multiplies the covariance of the client's own gradient noise
    (it is ``E omega_k^2`` unless copies of a client draw noise independently).
    """

    mean: Array
    alpha: float
    delta: Array
    noise: Array


class Fixed(NamedTuple):
    """Mean coefficients q_k that do not depend on the model, shape (K,), with unknown second moments."""

    mean: Array


@final
@dataclass(frozen=True, eq=False)
class Ranked:
    r"""Mean coefficients q_k that depend on the model only through the order of the losses.

    Parameters
    ----------
    frequencies
        From the losses, shape (K,), to q, shape (K,): not negative, of sum 1, and 0 for clients of weight zero. Where
        losses tie, what the strategy does: if it draws lots, the mean over all orders of those who tie.
    prefers_large
        Whether no order of the clients gives ``sum_k q_k y_k`` a larger value than that by y itself: as when the
        clients with the largest losses are preferred. The error floor and the certificates of the diagonal skew need
        it.
    favors_heavy
        Whether no n clients can have a larger total frequency, in any order, than the n of largest weight have when
        they come first; this makes the lower side of rho_bar sharper.
    num_top
        m if the m largest losses have the frequency 1/m each, for every ranking; None otherwise.

    Examples
    --------
    The client with the larger of two losses, each by a fair coin in a tie:

    >>> import numpy as np
    >>> law = Ranked(lambda losses: np.equal(losses, max(losses)) / np.equal(losses, max(losses)).sum())
    >>> law.frequencies(np.array([1.0, 3.0])), law.frequencies(np.array([3.0, 3.0]))
    (array([0., 1.]), array([0.5, 0.5]))
    """

    frequencies: Callable[[Array], Array]
    prefers_large: bool = False
    favors_heavy: bool = False
    num_top: int | None = None

    def __post_init__(self) -> None:
        validate.function("frequencies", self.frequencies, "losses")
        validate.boolean("prefers_large", self.prefers_large)
        validate.boolean("favors_heavy", self.favors_heavy)
        if self.num_top is not None:
            validate.count("num_top", self.num_top)


@final
@dataclass(frozen=True, eq=False)
class Scheduled:
    """Law that changes over the rounds: ``over(num_rounds)`` returns the laws of all rounds."""

    over: Callable[[int], Sequence[Fixed | Ranked]]

    def __post_init__(self) -> None:
        validate.function("over", self.over, "num_rounds")


SelectionLaw = Moments | Fixed | Ranked | Scheduled


class KnowsItsLaw(Protocol):
    """A strategy that declares its law."""

    def law(self, weights: Array) -> SelectionLaw | None:
        """Return the law for the objective weights, shape (K,), or None if it is not known.

        Raises
        ------
        ValueError
            If a run with these weights would be refused.
        """
