"""FashionMNIST from a system package or from the cache of another library."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from fedtheory.datasets.idx import Features, read_idx_pair
from fedtheory.federation.client_data import Labels

__all__ = ["fashion_mnist"]

_VARIABLE = "FASHION_MNIST"
_PARTS = ("train", "t10k")
_NUM_CLASSES = 10
_HOW = (
    "install the package dataset-fashion-mnist (Debian, Ubuntu), or put the four files of "
    f"https://github.com/zalandoresearch/fashion-mnist into a folder and name it, also in the variable {_VARIABLE}"
)


def fashion_mnist(path: str | Path | None = None) -> tuple[tuple[Features, Labels], tuple[Features, Labels]]:
    """FashionMNIST: 60,000 and 10,000 images, 28 x 28 pixels divided by 255, 10 classes; nothing is downloaded.

    The result is a pair for training and one for tests: features, float32, shape (N, 784), and labels 0 to 9, shape
    (N,). ``path`` is the folder of the four IDX files, gzipped or not. By default it is the first of these that
    contains them: the variable ``FASHION_MNIST``, ``share/datasets/fashion-mnist`` of the environment and the system,
    and the caches of Keras (``~/.keras``) and torchvision (``data`` in the working directory and the home directory).
    The files may contain fewer images, or images of another size.

    Xiao, Rasul, Vollgraf (2017), "Fashion-MNIST: a novel image dataset for benchmarking machine learning algorithms".

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in ("train", "t10k"):
    ...         images = Path(folder, f"{part}-images-idx3-ubyte")
    ...         _ = images.write_bytes(bytes([0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 51, 255]))
    ...         labels = Path(folder, f"{part}-labels-idx1-ubyte")
    ...         _ = labels.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 1, 9]))
    ...     (x, y), (x_test, y_test) = fashion_mnist(folder)
    >>> x, y_test
    (array([[0.2, 1. ]], dtype=float32), array([9]))
    """
    files = _found(path)
    train, test = (_labeled(files[f"{part}-images-idx3-ubyte"], files[f"{part}-labels-idx1-ubyte"]) for part in _PARTS)
    if train[0].shape[1] != test[0].shape[1]:
        name, sizes = files["t10k-images-idx3-ubyte"], (train[0].shape[1], test[0].shape[1])
        message = f"{name} must have images of {sizes[0]} pixels like the training images, got {sizes[1]}"
        raise ValueError(message)
    return train, test


def _labeled(images: Path, labels: Path) -> tuple[Features, Labels]:
    x, y = read_idx_pair(images, labels)
    above = np.flatnonzero(y >= _NUM_CLASSES)
    if above.size:
        message = f"{labels} must contain labels from 0 to 9, got {y[above[0]]} at index {above[0]}"
        raise ValueError(message)
    return x, y


def _found(path: str | Path | None) -> dict[str, Path]:
    """Return the files by their names without the suffix of gzip."""
    names = [f"{part}-{kind}-ubyte" for part in _PARTS for kind in ("images-idx3", "labels-idx1")]
    folders = list(_folders()) if path is None else [Path(path)]
    for folder in folders:
        files = {name: file for name in names for file in (folder / f"{name}.gz", folder / name) if file.is_file()}
        if len(files) == len(names):
            return files
        if path is not None:
            missing = next(name for name in names if name not in files)
            message = f"path must be a folder with the files of FashionMNIST, got {folder} without {missing} or its .gz"
            raise FileNotFoundError(message)
    message = f"FashionMNIST must be on this machine, got none in {', '.join(map(str, folders))}: {_HOW}"
    raise FileNotFoundError(message)


def _folders() -> Iterator[Path]:
    if named := os.environ.get(_VARIABLE):
        yield Path(named)
    for prefix in dict.fromkeys((sys.prefix, "/usr/local", "/usr")):
        yield Path(prefix, "share", "datasets", "fashion-mnist")
    yield Path(os.environ.get("KERAS_HOME") or Path.home() / ".keras", "datasets", "fashion-mnist")
    for root in (Path("data"), Path.home() / "data"):
        yield root / "FashionMNIST" / "raw"
