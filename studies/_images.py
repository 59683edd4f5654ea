"""Images that a study is asked for with ``--data``: by name, or as four IDX files."""

from typing import Any, NamedTuple

import numpy as np

import fedtheory as ft

__all__ = ["Images", "read_images"]


class Images(NamedTuple):
    """Features and labels to train on, and to test."""

    x: Any
    y: Any
    x_test: Any
    y_test: Any


def read_images(data: tuple[str, ...], num_test: int, seed: int) -> Images:
    """Return ``digits`` with ``num_test`` samples held out, ``fashion-mnist``, or four IDX files, train and test."""
    if data == ("digits",):
        from sklearn.datasets import load_digits

        features, labels = load_digits(return_X_y=True)
        order = np.random.default_rng([seed, 2]).permutation(len(labels))
        test, rest = order[:num_test], order[num_test:]
        return Images(features[rest] / 16, labels[rest], features[test] / 16, labels[test])
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
