"""Labeled samples of many clients, made when they are asked for: client k's are a function of (seed, k)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.cached import cached_property
from fedtheory._support.validate import Array
from fedtheory.federation._client_streams import write_client
from fedtheory.federation.client_data import FederatedData, Labels


@final
@dataclass(frozen=True, eq=False, repr=False)
class LazySynthetic:
    """Synthetic(alpha, beta) of any number of clients in the memory of one number per client (``lazy_synthetic``).

    Attributes
    ----------
    streams
        Two keys of 64 bits: with k they determine the model, the center and the samples of client k.
    spreads
        Standard deviations of the clients' mean model entry and mean feature, shape (2,).
    scales
        Standard deviations of the features, shape (f,).
    sample_counts
        Number of samples of each client, shape (K,).
    num_classes
        C.
    """

    streams: npt.NDArray[np.uint64]
    spreads: Array
    scales: Array
    sample_counts: Labels
    num_classes: int

    def __post_init__(self) -> None:
        for array in (self.streams, self.spreads, self.scales, self.sample_counts):
            array.setflags(write=False)

    @property
    def num_clients(self) -> int:
        """Number of clients K."""
        return int(self.sample_counts.size)

    @property
    def num_samples(self) -> int:
        """Number of samples of all clients, N."""
        return int(self.sample_counts.sum())

    @property
    def num_features(self) -> int:
        """Number of features f of a sample."""
        return int(self.scales.size)

    @cached_property
    def weights(self) -> Array:
        """Objective weights proportional to the sample counts, shape (K,), sum 1."""
        result: Array = self.sample_counts / self.num_samples
        result.setflags(write=False)
        return result

    def client(self, k: int) -> tuple[Array, Labels]:
        """Make features (n, f) and labels (n,) of client k: the same ones each time."""
        k = validate.count("k", k, 0, self.num_clients - 1)
        size, f = int(self.sample_counts[k]), self.num_features
        features, labels = np.empty((size, f)), np.empty(size, dtype=np.int64)
        model, center = np.empty((f + 1, self.num_classes)), np.empty(f)
        write: Any = write_client
        write(self.streams, self.spreads, self.scales, k, model, center, features, labels)
        return features, labels

    def take(self, clients: Sequence[int]) -> FederatedData:
        """Make the samples of some clients, in the given order."""
        return FederatedData.from_clients([self.client(int(k)) for k in clients], num_classes=self.num_classes)

    def __repr__(self) -> str:
        return (
            f"LazySynthetic(num_clients={self.num_clients}, num_samples={self.num_samples}, "
            f"num_features={self.num_features}, num_classes={self.num_classes})"
        )
