"""MNIST and FashionMNIST from a system package or from the cache of another library."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from fedtheory.datasets.idx import Features, read_idx_pair
from fedtheory.federation.client_data import Labels

__all__ = ["fashion_mnist", "mnist"]

_PARTS = ("train", "t10k")
_NUM_CLASSES = 10
Pair = tuple[tuple[Features, Labels], tuple[Features, Labels]]


def fashion_mnist(path: str | Path | None = None) -> Pair:
    """FashionMNIST: 60,000 and 10,000 images, 28 x 28 pixels divided by 255, 10 classes; nothing is downloaded.

    The result is a pair for training and one for tests: features, float32, shape (N, 784), and labels 0 to 9, shape
    (N,). ``path`` is the folder of the four IDX files, gzipped or not. By default it is the first of these that
    contains them: the variable ``FASHION_MNIST``, ``share/datasets/fashion-mnist`` of the environment and the system,
    the cache of Keras, and ``FashionMNIST/raw`` of torchvision in the working directory, in its ``data`` or
    ``datasets``, in ``../data`` and in ``~/data``.
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
    return _images("FashionMNIST", path)


def mnist(path: str | Path | None = None) -> Pair:
    """MNIST, found and returned as ``fashion_mnist`` does; ``path`` may also be the file ``mnist.npz`` of Keras.

    Its variable is ``MNIST``. Source: LeCun, Bottou, Bengio, Haffner (1998), "Gradient-based learning applied to
    document recognition".

    >>> import tempfile
    >>> image, label = np.full((1, 1, 2), 51, dtype=np.uint8), np.array([9], dtype=np.uint8)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(Path(folder, "mnist.npz"), x_train=image, y_train=label, x_test=image, y_test=label)
    ...     (x, y), _ = mnist(Path(folder, "mnist.npz"))
    >>> x, y
    (array([[0.2, 0.2]], dtype=float32), array([9]))
    """
    return _images("MNIST", path)


def _images(title: str, path: str | Path | None) -> Pair:
    files = _found(title, path)
    if isinstance(files, Path):
        return _from_keras(files)
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


def _found(title: str, path: str | Path | None) -> dict[str, Path] | Path:
    """Return the IDX files by their names without the suffix of gzip, or the file of Keras."""
    names = [f"{part}-{kind}-ubyte" for part in _PARTS for kind in ("images-idx3", "labels-idx1")]
    folders = list(_folders(title)) if path is None else [Path(path)]
    for folder in folders:
        files = {name: file for name in names for file in (folder / f"{name}.gz", folder / name) if file.is_file()}
        if len(files) == len(names):
            return files
        if folder.with_suffix(".npz").is_file():
            return folder.with_suffix(".npz")
        if path is not None:
            missing = next(name for name in names if name not in files)
            message = f"path must be a folder with the files of {title}, got {folder} without {missing} or its .gz"
            raise FileNotFoundError(message)
    message = (
        f"{title} must be on this machine, got none in {', '.join(map(str, folders))}: download it with torchvision or "
        f"Keras, or put its four IDX files into a folder and name it, also in the variable {_variable(title)}"
        + (" (Debian and Ubuntu have the package dataset-fashion-mnist)" if title == "FashionMNIST" else "")
    )
    raise FileNotFoundError(message)


def _variable(title: str) -> str:
    return {"FashionMNIST": "FASHION_MNIST"}.get(title, title)


def _folders(title: str) -> Iterator[Path]:
    variable = _variable(title)
    folder = variable.lower().replace("_", "-")
    if named := os.environ.get(variable):
        yield Path(named)
    for prefix in dict.fromkeys((sys.prefix, "/usr/local", "/usr")):
        yield Path(prefix, "share", "datasets", folder)
    yield Path(os.environ.get("KERAS_HOME") or Path.home() / ".keras", "datasets", folder)
    # The usual folders in calls of torchvision.
    for root in (Path(), Path("data"), Path("..", "data"), Path("datasets"), Path.home() / "data"):
        yield root / title / "raw"


def _from_keras(file: Path) -> Pair:
    """Read the arrays ``x_train``, ``y_train``, ``x_test`` and ``y_test`` of bytes, as in ``mnist.npz``."""
    try:
        with np.load(file, allow_pickle=False) as arrays:
            parts = [(arrays[f"x_{part}"], arrays[f"y_{part}"]) for part in ("train", "test")]
    except (KeyError, ValueError, EOFError, BadZipFile) as error:
        message = f"{file} must contain the arrays x_train, y_train, x_test and y_test, got {error}"
        raise ValueError(message) from error
    for x, y in parts:
        if x.dtype != np.uint8 or y.dtype != np.uint8 or x.ndim < 2 or y.shape != x.shape[:1] or (y >= 10).any():
            message = f"{file} must contain images of bytes and their labels 0 to 9, got {x.shape} and {y.shape}"
            raise ValueError(message)
    scale = np.float32(255)
    train, test = ((x.reshape(y.size, -1) / scale, y.astype(np.int64)) for x, y in parts)
    return train, test
