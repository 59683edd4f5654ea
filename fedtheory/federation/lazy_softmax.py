"""Softmax regression on clients whose samples are made when they are asked for, a million of them, say."""

from dataclasses import dataclass, field
from typing import Any, NoReturn, final

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.cached import cached_property
from fedtheory._support.validate import Array, RNGLike
from fedtheory.errors import AssumptionViolated
from fedtheory.federation._lazy_data import LazySynthetic
from fedtheory.federation.client_data import Labels
from fedtheory.federation.softmax import SoftmaxFederation

__all__ = ["LazySoftmaxFederation"]

_BLOCK = 256


@final
@dataclass(frozen=True, eq=False)
class LazySoftmaxFederation:
    """The mean cross-entropy of ``SoftmaxFederation`` where no client's samples are kept.

    A round makes the samples of the clients that it touches, and nobody else's. So that a run needs not touch all, the
    loss that it records is an estimate: the mean over ``num_audited`` clients drawn by weight, the same in all rounds,
    which is unbiased for F at any fixed model. What needs every sample, such as a minimizer, raises AssumptionViolated.

    Parameters
    ----------
    data
        The clients.
    l2
        Weight of the ridge term, at least 0.
    num_audited, rng
        Clients behind a recorded loss, and the seed that draws them, with replacement.

    Examples
    --------
    >>> from fedtheory.datasets.synthetic_on_demand import lazy_synthetic
    >>> fed = LazySoftmaxFederation(lazy_synthetic(1, 1, num_clients=1000, max_samples=60), num_audited=3)
    >>> fed.dim, fed.clients([7, 5]).losses(np.zeros(610)) / np.log(10)
    (610, array([1., 1.]))
    """

    data: LazySynthetic
    l2: float = 0.0
    num_audited: int = 100
    rng: RNGLike = field(default=0, repr=False)

    def __post_init__(self) -> None:
        _checked(self.data)
        object.__setattr__(self, "l2", float(validate.nonnegative("l2", self.l2)))
        validate.count("num_audited", self.num_audited)
        validate.generator(self.rng)

    @property
    def num_clients(self) -> int:
        """Number of clients K."""
        return self.data.num_clients

    @property
    def dim(self) -> int:
        """Number of model parameters ``v = C (f + 1)``."""
        return self.data.num_classes * (self.data.num_features + 1)

    @property
    def weights(self) -> Array:
        """Objective weights, proportional to the sample counts, shape (K,), sum 1."""
        return self.data.weights

    @property
    def sample_counts(self) -> Labels:
        """Number of samples of each client, shape (K,)."""
        return self.data.sample_counts

    @cached_property
    def audited(self) -> Labels:
        """Clients whose mean loss is recorded, shape (num_audited,)."""
        draws = validate.generator(self.rng).random(self.num_audited)
        found = np.searchsorted(self.weights.cumsum(), draws, side="right")
        return np.minimum(found, self.num_clients - 1)

    def clients(self, chosen: npt.ArrayLike) -> SoftmaxFederation:
        """Make the federation of some clients, in the given order and with equal weights."""
        numbers = validate.counts(
            "chosen", validate.unmasked("chosen", validate.sequence("chosen", chosen)), 0, self.num_clients - 1
        )
        data = self.data.take(numbers.tolist())
        return SoftmaxFederation(data, self.l2, np.full(data.num_clients, 1 / data.num_clients))

    def losses(self, w: npt.ArrayLike) -> Array:
        """All F_k at models of shape (..., v), shape (..., K): makes every sample once, some clients at a time."""
        blocks = (range(k, min(k + _BLOCK, self.num_clients)) for k in range(0, self.num_clients, _BLOCK))
        return np.concatenate([self.clients(block).losses(w) for block in blocks], axis=-1)

    def loss(self, w: npt.ArrayLike) -> Array:
        """F at models of shape (..., v), shape (...): makes every sample once, some clients at a time."""
        return np.asarray(self.losses(w) @ self.weights)[()]

    @property
    def minimizer(self) -> NoReturn:
        """Not known without all samples."""
        raise _unknown("minimizer")

    @property
    def minimum(self) -> NoReturn:
        """Not known without all samples."""
        raise _unknown("minimum")


def _checked(data: Any) -> None:
    if not isinstance(data, LazySynthetic):
        message = f"data must be a LazySynthetic, got {type(data).__name__}"
        raise TypeError(message)


def _unknown(name: str) -> AssumptionViolated:
    return AssumptionViolated(
        f"a {name} needs the samples of all clients, got a federation that keeps none "
        "(a run can record 'loss'; `clients` makes a federation of some)"
    )
