"""Labeled samples of the clients of a federation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.summary import Displayed, Summary
from fedtheory._support.validate import Array, RNGLike
from fedtheory._support.wording import truncate

__all__ = ["FederatedData"]

Labels = npt.NDArray[np.int64]

# A model has a row per class, so that one wrong label could require all memory.
_MOST_CLASSES = 100_000


@final
@dataclass(frozen=True, eq=False, repr=False)
class FederatedData(Displayed):
    """Samples of K clients in one table; the rows ``offsets[k]:offsets[k + 1]`` belong to client k.

    Parameters
    ----------
    features, labels
        Shape (N, f), finite, and shape (N,), integers in ``0..num_classes - 1``.
    offsets
        Row numbers, shape (K + 1,), from 0 to N and strictly increasing, so that no client is empty.
    num_classes
        Number of classes; by default one more than the largest label, at least 2. It must be given for labels from
        100,000.
    test_features, test_labels, test_offsets
        Held-out samples in the same layout, or none; a client may have no held-out samples. Samples from
        ``test_offsets[K]`` belong to no client and form a common test set.

    Examples
    --------
    >>> data = FederatedData.from_clients([([[0.0], [1.0], [2.0]], [0, 1, 1]), ([[3.0]], [0])])
    >>> data
    FederatedData(num_clients=2, num_samples=4, num_features=1, num_classes=2, num_test_samples=0)
    >>> data.weights
    array([0.75, 0.25])
    """

    features: Array
    labels: Labels
    offsets: Labels
    num_classes: int = field(default=None)  # type: ignore[assignment]
    test_features: Array = field(default=None)  # type: ignore[arg-type]
    test_labels: Labels = field(default=None)  # type: ignore[arg-type]
    test_offsets: Labels = field(default=None)  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        features, labels, offsets = _samples("", self.features, self.labels, self.offsets)
        empty = np.flatnonzero(np.diff(offsets) < 1)
        if offsets.size < 2 or empty.size:
            got = f"client {empty[0]} without any" if empty.size else "no client"
            message = f"every client must own at least one sample, got {got}"
            raise ValueError(message)
        clean: dict[str, Any] = {"features": features, "labels": labels, "offsets": offsets}
        clean |= self._held_out(features.shape[1], offsets.size)
        clean["num_classes"] = _num_classes(self.num_classes, labels, clean["test_labels"])
        for name, value in clean.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)

    def _held_out(self, num_features: int, num_offsets: int) -> dict[str, Any]:
        given = (self.test_features, self.test_labels, self.test_offsets)
        if all(part is None for part in given):
            given = (np.empty((0, num_features)), np.empty(0, np.int64), np.zeros(num_offsets, np.int64))
        features, labels, offsets = _samples("test_", *given, common=True)
        if features.shape[1] != num_features:
            message = f"test_features must have {num_features} columns as features has, got shape {features.shape}"
            raise ValueError(message)
        if offsets.size != num_offsets:
            message = f"test_offsets must have {num_offsets} entries as offsets has, got {offsets.size}"
            raise ValueError(message)
        return {"test_features": features, "test_labels": labels, "test_offsets": offsets}

    @classmethod
    def from_clients(
        cls,
        clients: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]],
        *,
        test: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]] | None = None,
        num_classes: int | None = None,
    ) -> Self:
        """Stack one pair (features, labels) per client, and optionally one pair of held-out samples per client."""
        train = _stacked("clients", clients)
        held_out = (None, None, None) if test is None else _stacked("test", test)
        return cls(*train, num_classes, *held_out)  # type: ignore[arg-type]

    @classmethod
    def from_partition(
        cls,
        features: npt.ArrayLike,
        labels: npt.ArrayLike,
        parts: Sequence[npt.ArrayLike],
        *,
        num_classes: int | None = None,
        complete: bool = True,
        test: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
        test_fraction: float = 0.0,
        rng: RNGLike = 0,
    ) -> Self:
        """Assign the pooled samples ``parts[k]`` to client k; a random share of each client's samples is held out.

        A client with n samples keeps ``max(1, floor((1 - test_fraction) n))`` of them for training. The parts must be
        disjoint, since a sample could otherwise be both held out and trained on, and contain all samples unless
        ``complete`` is False. The features and labels of ``test`` form a common test set in addition to the held-out
        samples.
        """
        # Only assigned samples are converted to doubles, which saves most of the memory for millions of bytes.
        x = _table("features", features)
        y = _whole("labels", without_words("labels", labels), shape=(len(x),))
        share = validate.fraction("test_fraction", test_fraction)
        shuffle = validate.generator(rng)
        train: list[Labels] = []
        held_out: list[Labels] = []
        parts = validate.sequence("parts", parts, "a sequence with the numbers of each client's samples")
        _refuse_none("clients", parts)
        for rows in _disjoint(parts, len(x), validate.boolean("complete", complete)):
            order = shuffle.permutation(rows) if share else rows
            for side, half in zip((train, held_out), np.split(order, [training_count(rows.size, share)]), strict=True):
                side.append(np.sort(half))
        common = (x[:0], y[:0]) if test is None else test_samples(test, x.shape[1])
        classes = 1 + int(max(np.max(y, initial=1), np.max(common[1], initial=1)))
        kept, aside = (np.concatenate([np.empty(0, np.int64), *rows]) for rows in (train, held_out))
        return cls(
            x[kept], y[kept], _bounds(train), classes if num_classes is None else num_classes,
            np.concatenate([x[aside], common[0]]), np.concatenate([y[aside], common[1]]), _bounds(held_out),
        )  # fmt: skip

    @property
    def num_clients(self) -> int:
        """Number of clients K."""
        return int(self.offsets.size - 1)

    @property
    def num_samples(self) -> int:
        """Number of training samples of all clients, N."""
        return int(self.labels.size)

    @property
    def num_features(self) -> int:
        """Number of features f of a sample."""
        return int(self.features.shape[1])

    @property
    def sample_counts(self) -> Labels:
        """Number of training samples of each client, shape (K,)."""
        return np.diff(self.offsets)

    @property
    def weights(self) -> Array:
        """Objective weights proportional to the sample counts, shape (K,), sum 1."""
        result: Array = self.sample_counts / self.num_samples
        return result

    def client(self, k: int) -> tuple[Array, Labels]:
        """Features and labels of client k."""
        k = validate.count("k", k, 0, self.num_clients - 1)
        rows = slice(self.offsets[k], self.offsets[k + 1])
        return self.features[rows], self.labels[rows]

    def test_client(self, k: int) -> tuple[Array, Labels]:
        """Held-out features and labels of client k, possibly empty."""
        k = validate.count("k", k, 0, self.num_clients - 1)
        rows = slice(self.test_offsets[k], self.test_offsets[k + 1])
        return self.test_features[rows], self.test_labels[rows]

    def take(self, clients: Sequence[int]) -> Self:
        """Federation of the given clients in the given order, possibly several times, with the same common test set."""
        named = validate.sequence("clients", clients, "a sequence of client numbers")
        chosen = [validate.count("clients", k, 0, self.num_clients - 1) for k in named]
        x, y, bounds = _stacked("clients", [self.client(k) for k in chosen])
        features, labels, offsets = _stacked("test", [self.test_client(k) for k in chosen])
        common = slice(int(self.test_offsets[-1]), None)
        return type(self)(
            x, y.astype(np.int64), bounds, self.num_classes, np.concatenate([features, self.test_features[common]]),
            np.concatenate([labels, self.test_labels[common]]).astype(np.int64), offsets,
        )  # fmt: skip

    @property
    def _summary(self) -> Summary:
        names = ("num_clients", "num_samples", "num_features", "num_classes")
        rows = {name: getattr(self, name) for name in names}
        return Summary("FederatedData", {**rows, "num_test_samples": int(self.test_labels.size)})


def training_count(num_samples: int, test_fraction: float) -> int:
    """Return ``max(1, floor((1 - test_fraction) n))``, the number of a client's samples that are not held out."""
    # The small summand keeps floor(0.2 * 10) at 2 for fractions that are not binary.
    return max(1, int((1 - test_fraction) * num_samples + 1e-9))


def test_samples(test: Any, num_features: int) -> tuple[npt.NDArray[Any], Labels]:
    """Return the features and labels of a common test set with the given number of features."""
    if not isinstance(test, tuple | list) or len(test) != 2:
        message = f"test must be a pair, features and labels, got {truncate(test)}"
        raise TypeError(message)
    features = _table("features of test", test[0])
    if features.shape[1] != num_features:
        message = f"features of test must have {num_features} columns as features has, got shape {features.shape}"
        raise ValueError(message)
    return features, _whole("labels of test", without_words("labels of test", test[1]), shape=(len(features),))


def _table(name: str, value: Any) -> npt.NDArray[Any]:
    """Return finite real numbers of two dimensions without changing their type (single precision, or bytes)."""
    raw = validate.unmasked(name, value)
    if raw.ndim == 2 and raw.dtype.kind in "iuf" and np.isfinite(raw).all():
        return raw
    return validate.array(name, raw, ndim=2)  # raises an error that describes the problem


def _bounds(parts: Sequence[Labels]) -> Labels:
    return np.cumsum([0, *(rows.size for rows in parts)]).astype(np.int64)


def _disjoint(parts: Sequence[npt.ArrayLike], num_samples: int, complete: bool) -> list[Labels]:
    # An empty list has no dtype.
    arrays = [
        validate.unmasked(f"part {k}", part) if np.size(part) else np.empty(0, np.int64) for k, part in enumerate(parts)
    ]
    for k, part in enumerate(arrays):
        if part.ndim == 0:
            message = f"part {k} must be an array of numbers of samples, got {truncate(parts[k])}"
            raise TypeError(message)
    rows = [validate.counts(f"part {k}", part, 0, num_samples - 1).ravel() for k, part in enumerate(arrays)]
    counts = np.bincount(np.concatenate([np.empty(0, np.int64), *rows]), minlength=num_samples)
    if counts.max(initial=0) > 1:
        message = (
            f"parts must be disjoint, got {(counts > 1).sum()} of {num_samples} rows more than once, the first of them "
            f"row {np.argmax(counts > 1)}"
        )
        raise ValueError(message)
    if complete and not counts.all():
        message = (
            f"parts must contain every row unless complete=False, got {(counts == 0).sum()} of {num_samples} rows in "
            f"no part, the first of them row {np.argmin(counts)}"
        )
        raise ValueError(message)
    return rows


def _samples(
    prefix: str, features: Any, labels: Any, offsets: Any, *, common: bool = False
) -> tuple[Array, Labels, Labels]:
    x = validate.array(f"{prefix}features", features, ndim=2)
    if x.shape[1] == 0:
        message = f"{prefix}features must have at least one column, got shape {x.shape}"
        raise ValueError(message)
    y = _whole(f"{prefix}labels", without_words(f"{prefix}labels", labels), shape=(x.shape[0],))
    bounds = _whole(f"{prefix}offsets", offsets, shape=(None,))
    fits = bounds.size and bounds[0] == 0 and (bounds[-1] <= x.shape[0] if common else bounds[-1] == x.shape[0])
    if not fits or (np.diff(bounds) < 0).any():
        until = f"at most {x.shape[0]}" if common else f"{x.shape[0]}"
        message = f"{prefix}offsets must increase from 0 to {until}, got {bounds.tolist()}"
        raise ValueError(message)
    return x, y, bounds


def without_words(name: str, labels: Any) -> npt.NDArray[Any]:
    """Return labels as an array; words raise an error that names the function that numbers them."""
    raw = validate.unmasked(name, labels)
    if raw.dtype.kind in "USO" and raw.size:
        number = "np.unique(labels, return_inverse=True)[1]"
        message = (
            f"{name} must be the numbers 0, 1, ... of classes, as {number}, got {truncate(raw.ravel().tolist()[0])}"
        )
        raise TypeError(message)
    return raw


def _whole(name: str, value: Any, shape: tuple[int | None, ...]) -> Labels:
    numbers = validate.array(name, value, shape=shape)
    broken = np.flatnonzero(numbers != np.floor(numbers))
    if broken.size:
        message = f"{name} must be whole numbers, got {numbers[broken[0]]} at index {broken[0]}"
        raise ValueError(message)
    return numbers.astype(np.int64)


def _num_classes(num_classes: Any, labels: Labels, test_labels: Labels) -> int:
    if num_classes is None:
        num_classes = 1 + max(1, int(labels.max()), int(test_labels.max(initial=0)))
        if num_classes > _MOST_CLASSES:
            message = f"num_classes must be given for labels from {_MOST_CLASSES} on, got the label {num_classes - 1}"
            raise ValueError(message)
    classes = int(validate.count("num_classes", num_classes, low=2))
    for name, values in (("labels", labels), ("test_labels", test_labels)):
        outside = np.flatnonzero((values < 0) | (values >= classes))
        if outside.size:
            message = f"{name} must be in 0..{classes - 1}, got {values[outside[0]]} at index {outside[0]}"
            raise ValueError(message)
    return classes


def _refuse_none(name: str, clients: Sequence[Any]) -> None:
    if len(clients) == 0:
        message = f"{name} must hold at least one client, got none"
        raise ValueError(message)


def _stacked(name: str, clients: Any) -> tuple[Array, Array, Labels]:
    pairs = validate.sequence(name, clients, "a sequence of pairs (features, labels)")
    for k, pair in enumerate(pairs):
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            message = f"client {k} must be a pair of features and labels, got {truncate(pair)}"
            raise TypeError(message)
    _refuse_none(name, pairs)
    features = [validate.array(f"features of client {k}", x, ndim=2) for k, (x, _) in enumerate(pairs)]
    names = [f"labels of client {k}" for k in range(len(pairs))]
    labels = [validate.array(name, without_words(name, y), ndim=1) for name, (_, y) in zip(names, pairs, strict=True)]
    width = features[0].shape[1]
    for k, (x, y) in enumerate(zip(features, labels, strict=True)):
        if x.shape != (y.size, width):
            wanted = f"{width} columns as those of client 0" if len(x) == y.size else f"one row per label, {y.size}"
            message = f"features of client {k} must have {wanted}, got shape {x.shape}"
            raise ValueError(message)
    offsets = np.concatenate([[0], np.cumsum([y.size for y in labels])]).astype(np.int64)
    return np.concatenate(features), np.concatenate(labels), offsets
