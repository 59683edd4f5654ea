"""Clients that differ in speed and in their need for privacy, as ``fedavg`` takes them: one number per client."""

from typing import Any

import numpy as np
import numpy.typing as npt

from fedtheory import _validate
from fedtheory._validate import Array

__all__ = ["privacy_noise", "straggler_steps"]


def straggler_steps(
    num_clients: int, fraction: float, num_epochs: int, *, num_batches: int = 1, rng: Any = 0
) -> npt.NDArray[np.int64]:
    """Local steps of each client, shape (K,), of whom a random fraction has no time for all epochs.

    ``round(fraction K)`` clients, a uniform subset, take a number of epochs that is uniform on 1..E, drawn once for the
    whole run; the others take E. For ``fedavg(local_steps=...)``.

    Parameters
    ----------
    num_clients, fraction
        K, and the fraction x of stragglers.
    num_epochs, num_batches
        E, and steps per epoch.
    rng
        Seed, SeedSequence or Generator.

    Notes
    -----
    GreedyFed (2024), Section IV, after FedProx, which draws stragglers anew in each round.

    Examples
    --------
    >>> straggler_steps(5, 0.4, 3, num_batches=5)
    array([15, 15,  5, 15,  5])
    """
    num_clients, num_epochs = _validate.count("num_clients", num_clients), _validate.count("num_epochs", num_epochs)
    share, draw = _validate.fraction("fraction", fraction), _validate.generator(rng)
    epochs = np.full(num_clients, num_epochs, dtype=np.int64)
    slow = draw.permutation(num_clients)[: round(share * num_clients)]
    epochs[slow] = draw.integers(1, num_epochs + 1, size=slow.size)
    return epochs * _validate.count("num_batches", num_batches)


def privacy_noise(num_clients: int, sigma: float, rng: Any = 0) -> Array:
    """Variances ``sigma_k^2`` of the noise that clients add to returned parameters, shape (K,).

    The deviations are ``sigma_k = (j - 1) sigma / K`` for the client in place j = 1..K of a random order. For
    ``fedavg(returned_noise=...)``.

    Parameters
    ----------
    num_clients, sigma
        K, and the deviation that none quite reaches.
    rng
        Seed, SeedSequence or Generator.

    Notes
    -----
    GreedyFed (2024), Section IV.

    Examples
    --------
    >>> print(sorted(privacy_noise(4, sigma=8.0).tolist()))
    [0.0, 4.0, 16.0, 36.0]
    """
    num_clients = _validate.count("num_clients", num_clients)
    largest = _validate.double("sigma", _validate.nonnegative("sigma", sigma))
    deviations: Array = _validate.generator(rng).permutation(num_clients) * largest / num_clients
    return deviations**2
