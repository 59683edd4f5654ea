"""Selection laws of strategies, for exact computations.

A strategy's ``law(weights)`` returns one of the four values below. A strategy without this method, or for which it
returns None, has an unknown law, for example because it depends on updates, earlier rounds, or availability.
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
    """Mean coefficients q_k that depend on the model only through the order of the losses.

    Parameters
    ----------
    frequencies
        Function of the losses, shape (K,), that returns q, shape (K,): nonnegative, of sum 1, and 0 for clients of
        weight zero. For tied losses it is the behavior of the strategy.
    prefers_large
        Whether ``sum_k q_k y_k`` is largest, over all orders of the clients, for the order of y, as if the clients with
        the largest losses are preferred. Required by the error floor and by certificates of the diagonal skew.
    favors_heavy
        Whether the largest total frequency of n clients, over all orders, is that of the n clients of largest weight
        ranked first; this makes the lower side of rho_bar sharper.
    num_top
        m if the m largest losses have the frequency 1/m each, for every ranking; None otherwise.
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
        """Return the law for the objective weights, shape (K,), or None if it is unknown.

        A ValueError is raised if ``fedavg`` would reject the strategy with these weights.
        """
