"""Images of the option ``--data`` of studies: by name, or as four IDX files."""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

import fedtheory as ft

__all__ = ["Images", "dealt", "digits", "images_of", "read_images", "without_tests"]


class Images(NamedTuple):
    """Features and labels to train on, and to test."""

    x: Any
    y: Any
    x_test: Any
    y_test: Any

    def with_tests(self, num_server: int, seed: int) -> "Images":
        """Keep a random subset of the test images for the server."""
        if not 2 <= num_server <= len(self.y_test):
            message = f"num_server must be in 2..{len(self.y_test)}, the test images, got {num_server}"
            raise ValueError(message)
        chosen = np.random.default_rng([seed, 2]).permutation(len(self.y_test))[:num_server]
        return self._replace(x_test=self.x_test[chosen], y_test=self.y_test[chosen])


def without_tests(x: Any, y: Any) -> Images:
    """Return images without a test set."""
    return Images(x, y, x[:0], y[:0])


def digits() -> Images:
    """Return scikit-learn's handwritten digits, features in [0, 1], without a test set."""
    from sklearn.datasets import load_digits

    features, labels = load_digits(return_X_y=True)
    return without_tests(features / 16, labels)


def dealt(data: tuple[str, ...], num_clients: int, rng: Any, **how: Any) -> "ft.federation.FederatedData":
    """Partition digits, with held-out samples at every client, or images with a test set; ``how`` as for digits."""
    if data == ("digits",):
        return ft.datasets.digits(num_clients, rng, **how)
    x, y, *test = images_of(data)
    generator, shards = np.random.default_rng(rng), how.get("partition") == "shards"
    parts = (
        ft.datasets.shard_partition(y, num_clients, rng=generator)
        if shards
        else ft.datasets.dirichlet_partition(
            y, num_clients, how["concentration"], min_samples=how.get("min_samples", 10), rng=generator
        )
    )
    return ft.federation.FederatedData.from_partition(x, y, parts, test=tuple(test))


@lru_cache(maxsize=1)
def images_of(data: tuple[str, ...]) -> Images:
    """Return digits, without a test set, or images with one; the last result is cached."""
    return digits() if data == ("digits",) else read_images(data, 0)


def read_images(data: tuple[str, ...], num_test: int) -> Images:
    """Return ``digits`` with ``num_test`` samples held out, ``fashion-mnist``, or four IDX files, train and test."""
    if data == ("digits",):
        x, y, *_ = digits()
        order = np.random.default_rng([0, 2]).permutation(len(y))
        test, rest = order[:num_test], order[num_test:]
        return Images(x[rest], y[rest], x[test], y[test])
    if data == ("fashion-mnist",):
        (x, y), (x_test, y_test) = ft.datasets.fashion_mnist()
        return Images(x, y, x_test, y_test)
    if len(data) == 4:
        return Images(*ft.datasets.read_idx_pair(*data[:2]), *ft.datasets.read_idx_pair(*data[2:]))
    message = (
        "data must be digits, fashion-mnist, or four IDX files: images and labels to train on, images and labels to "
        f"test, got {' '.join(data) or 'nothing'}"
    )
    raise ValueError(message)
