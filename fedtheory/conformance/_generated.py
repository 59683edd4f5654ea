"""Clients that a generator of Synthetic(alpha, beta) made: features and labels of the shapes they must have."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fedtheory._support.validate import Array
from fedtheory._support.wording import short
from fedtheory.conformance._repeatable import generator
from fedtheory.conformance._timeouts import Broken, Watch

__all__ = ["ALPHA", "Client", "Generator"]

ALPHA = 0.5


class Client(NamedTuple):
    """Features, shape (n, f), and labels, shape (n,)."""

    features: Array
    labels: Any


class Generator(NamedTuple):
    """The function under check."""

    watch: Watch
    function: Callable[..., Any]
    num_clients: int

    def clients(self, seeds: np.random.SeedSequence, beta: float, num_clients: int) -> list[Client]:
        """Ask for clients, whose data must be finite features and whole labels from 0 on."""
        given = {"alpha": ALPHA, "beta": beta, "num_clients": num_clients}
        arguments = (ALPHA, beta, num_clients, generator(seeds))
        answer = self.watch.call(self.function, *arguments, case=given)
        try:
            pairs = [(np.asarray(x, dtype=np.float64), np.asarray(y)) for x, y in answer]
        except (TypeError, ValueError) as error:
            raise Broken(f"must return pairs of features and labels, got {short(type(answer))}", **given) from error
        if len(pairs) != num_clients:
            raise Broken(f"must return {num_clients} clients, got {len(pairs)}", **given)
        for x, y in pairs:
            if x.ndim != 2 or y.shape != x.shape[:1] or x.shape[1] != pairs[0][0].shape[1] or not y.size:
                sentence = "features and labels must have shapes (n, f) and (n,), n > 0 and one f"
                raise Broken(f"{sentence}, got {x.shape} and {y.shape}", **given)
            if y.dtype.kind not in "iu" or y.min() < 0 or not np.isfinite(x).all():
                wrong = "features that are not finite" if y.dtype.kind in "iu" and y.min() >= 0 else short(y[:4])
                raise Broken(f"features must be finite, labels whole numbers from 0 on, got {wrong}", **given)
        return [Client(x, y.astype(np.int64)) for x, y in pairs]
