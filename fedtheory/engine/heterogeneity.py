"""Heterogeneous clients for ``fedavg``: numbers of local steps, and privacy noise."""

from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array, RNGLike

__all__ = ["Stragglers", "noise_variances", "own_steps", "privacy_noise"]

Whole = npt.NDArray[np.int64]


@final
@dataclass(frozen=True)
class Stragglers:
    """Numbers of local steps with stragglers: a random fraction of the clients completes fewer epochs.

    ``round(fraction K)`` clients, a uniform subset, take a number of epochs that is uniform on 1..E; the others take E.
    GreedyFed (2024), Section IV, does not say whether it is drawn in each round, as in FedProx.

    Parameters
    ----------
    fraction
        Fraction of stragglers, in [0, 1].
    num_epochs, num_batches
        E, and steps per epoch.
    drawn
        Whether the slow clients and their numbers of epochs are drawn ``once`` or in ``each round``.
    seed
        Seed of the draws, which are the same for all replicates.
    """

    fraction: float
    num_epochs: int
    num_batches: int = 1
    drawn: Literal["once", "each round"] = "once"
    seed: int = 0

    def __post_init__(self) -> None:
        validate.fraction("fraction", self.fraction)
        validate.count("num_epochs", self.num_epochs)
        validate.count("num_batches", self.num_batches)
        validate.choice("drawn", self.drawn, ("once", "each round"))
        validate.count("seed", self.seed, 0)

    def local_steps(self, num_clients: int, num_rounds: int) -> Whole:
        """Return the local steps of each client, shape (K,), or of each client in each round, shape (T, K)."""
        validate.size("num_clients", num_clients)
        validate.size("num_rounds", num_rounds, 0)
        draw, num_slow = np.random.default_rng(self.seed), round(self.fraction * num_clients)
        once = self.drawn == "once"
        epochs = np.full((1 if once else num_rounds, num_clients), self.num_epochs, dtype=np.int64)
        for row in epochs:
            slow = draw.permutation(num_clients)[:num_slow]
            row[slow] = draw.integers(1, self.num_epochs + 1, size=num_slow)
        steps = self.num_batches * epochs
        return steps[0] if once else steps


def privacy_noise(num_clients: int, sigma: float, rng: RNGLike = 0) -> Array:
    """Variances ``sigma_k^2`` of the noise that clients add to returned parameters (``fedavg(returned_noise=)``), (K,).

    The standard deviations are ``sigma_k = (j - 1) sigma / K`` for the client at position j = 1..K of a random order.
    Source: GreedyFed (2024), Section IV.

    >>> print(sorted(privacy_noise(4, sigma=8.0).tolist()))
    [0.0, 4.0, 16.0, 36.0]
    """
    num_clients = validate.size("num_clients", num_clients)
    largest = validate.moderate("sigma", validate.double("sigma", validate.nonnegative("sigma", sigma)), 1e300)
    deviations: Array = validate.generator(rng).permutation(num_clients) * largest / num_clients
    return deviations**2


def own_steps(local_steps: Any, num_clients: int, num_rounds: int) -> tuple[int, Whole]:
    """Return the largest number of local steps, and those of clients, in one row or one per round, if they differ."""
    if isinstance(local_steps, Stragglers):
        all_epochs = local_steps.num_epochs * local_steps.num_batches
        return all_epochs, np.atleast_2d(local_steps.local_steps(num_clients, num_rounds))
    given = validate.unmasked("local_steps", local_steps)
    if given.ndim == 0:
        return validate.count("local_steps", local_steps), np.empty((0, num_clients), dtype=np.int64)
    counts: Whole = validate.counts("local_steps", given)
    validate.array("local_steps", counts, shape=(num_clients,) if counts.ndim == 1 else (num_rounds, num_clients))
    # the loop is compiled for writable arrays, although it does not write to this one
    return int(counts.max(initial=1)), np.array(np.atleast_2d(counts), order="C")


def noise_variances(variance: Any, num_clients: int) -> Array:
    """Return the variance of the noise on each client's returned parameters, shape (K,); empty if there is no noise."""
    variances = validate.array("returned_noise", validate.nonnegative("returned_noise", variance))
    if not variances.any():
        return np.empty(0)
    if variances.ndim == 0:
        return np.full(num_clients, float(variances))
    return validate.array("returned_noise", variances, shape=(num_clients,))
