"""FashionMNIST is found and read correctly; incomplete files are rejected in one sentence."""

import gzip
import re
import runpy
import struct
from pathlib import Path

import numpy as np
import pytest

from fedtheory.datasets import fashion
from fedtheory.datasets.fashion import fashion_mnist, mnist
from fedtheory.federation import FederatedData
from tests.environment import ROOT

NAMES = [f"{part}-{kind}-ubyte" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1")]
RNG = np.random.default_rng(0)
TRAIN, TEST = RNG.integers(256, size=(5, 2, 3), dtype="u1"), RNG.integers(256, size=(2, 2, 3), dtype="u1")
CONTENT = dict(zip(NAMES, (TRAIN, np.array([3, 1, 9, 0, 3]), TEST, np.array([9, 2])), strict=True))


def packed(array):
    """The IDX bytes of an array, written independently of the reader."""
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.astype("u1").tobytes()


@pytest.fixture
def folder(tmp_path):
    for name, array in CONTENT.items():
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(packed(array)))
    return tmp_path


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """A machine that has it in none of the usual places."""
    monkeypatch.setattr(fashion, "_folders", lambda title: [tmp_path / "absent", tmp_path / "none"])


def test_a_folder_gives_a_train_and_a_test_pair_gzipped_or_not(folder):
    plain = folder / NAMES[0]
    plain.write_bytes(packed(CONTENT[NAMES[0]]))
    (folder / f"{NAMES[0]}.gz").unlink()
    (x, y), (x_test, y_test) = fashion_mnist(folder)
    np.testing.assert_array_equal(x, (TRAIN.reshape(5, 6) / 255).astype(np.float32))
    np.testing.assert_array_equal(x_test, (TEST.reshape(2, 6) / 255).astype(np.float32))
    assert (y.tolist(), y_test.tolist()) == ([3, 1, 9, 0, 3], [9, 2])
    assert x.dtype == np.float32


def test_the_first_place_that_has_all_four_files_is_taken(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("FASHION_MNIST", str(folder))
    assert fashion_mnist()[0][1].size == 5
    monkeypatch.setenv("FASHION_MNIST", str(tmp_path / "absent"))
    cache = tmp_path / "keras" / "datasets" / "fashion-mnist"
    cache.mkdir(parents=True)
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    assert cache in fashion._folders("FashionMNIST")
    torchvision = tmp_path / "home" / "data" / "FashionMNIST" / "raw"
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    assert torchvision in fashion._folders("FashionMNIST")
    assert Path("/usr/share/datasets/fashion-mnist") in fashion._folders("FashionMNIST")


KERAS = {"x_train": TRAIN, "y_train": CONTENT[NAMES[1]], "x_test": TEST, "y_test": CONTENT[NAMES[3]]}


def in_keras(folder, **changed):
    file = folder / "keras" / "datasets" / "mnist.npz"
    file.parent.mkdir(parents=True)
    np.savez(file, **{name: array.astype("u1") for name, array in (KERAS | changed).items()})
    return file


@pytest.mark.parametrize("where", ["keras", "torchvision", "path"])
def test_mnist_is_found_where_keras_and_torchvision_put_it(folder, where, monkeypatch):
    monkeypatch.delenv("MNIST", raising=False)
    monkeypatch.setenv("KERAS_HOME", str(folder / "keras"))
    (folder / "work").mkdir()
    monkeypatch.chdir(folder / "work")
    if where == "torchvision":
        raw = folder / "data" / "MNIST" / "raw"  # ../data of the working directory
        raw.mkdir(parents=True)
        for name in NAMES:
            (folder / f"{name}.gz").rename(raw / f"{name}.gz")
        found = mnist()
    else:
        file = in_keras(folder)
        found = mnist(file if where == "path" else None)
    (x, y), (x_test, y_test) = found
    np.testing.assert_array_equal(x, (TRAIN.reshape(5, 6) / 255).astype(np.float32))
    np.testing.assert_array_equal(x_test, (TEST.reshape(2, 6) / 255).astype(np.float32))
    assert x.dtype == np.float32
    assert (y.tolist(), y_test.tolist()) == ([3, 1, 9, 0, 3], [9, 2])


@pytest.mark.parametrize(
    "changed", [{"y_train": np.array([3, 1, 10, 0, 3])}, {"y_test": np.array([9])}, {"x_train": np.arange(5)}]
)
def test_a_file_of_keras_that_does_not_fit_is_refused(tmp_path, changed):
    with pytest.raises(ValueError, match=r"mnist.npz must contain images"):
        mnist(in_keras(tmp_path, **changed))


def test_a_file_without_the_arrays_of_keras_is_refused(tmp_path):
    file = tmp_path / "mnist.npz"
    np.savez(file, x=TRAIN)
    with pytest.raises(ValueError, match=r"must contain the arrays x_train"):
        mnist(file)


def test_without_the_files_the_sentence_says_how_to_get_them(nowhere, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"got none in .*absent.*dataset-fashion-mnist"):
        fashion_mnist()
    with pytest.raises(
        FileNotFoundError, match=r"path must be a folder with the files .*, got .* without train-images"
    ):
        fashion_mnist(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "error", "text"),
    [
        (NAMES[1], packed(np.array([3, 1, 10, 0, 3])), ValueError, "got 10 at index 2"),
        (NAMES[1], packed(np.array([3, 1])), ValueError, "must hold 2 images"),
        (NAMES[0], packed(TRAIN)[:-1], ValueError, "got 29"),
        (NAMES[2], packed(TEST.reshape(2, 1, 6)[..., :5]), ValueError, "images of 6 pixels .*, got 5"),
        (NAMES[3], None, FileNotFoundError, f"without {NAMES[3]}"),
    ],
)
def test_what_does_not_fit_is_refused_by_file(folder, name, content, error, text):
    file = folder / f"{name}.gz"
    file.unlink() if content is None else file.write_bytes(gzip.compress(content))
    with pytest.raises(error, match=text):
        fashion_mnist(folder)


def test_the_page_s_lines_for_shards_of_pfllib_read_them(tmp_path, monkeypatch):
    page = (ROOT / "docs" / "howto" / "own_data.md").read_text(encoding="utf-8")
    (lines,) = re.findall(r"^```py\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    for part, size in (("train", 3), ("test", 2)):
        (tmp_path / "MNIST" / part).mkdir(parents=True)
        for k in range(20):
            content = {"x": np.full((size, 1, 2, 2), k / 20, dtype=np.float32), "y": np.arange(size)}
            np.savez_compressed(tmp_path / "MNIST" / part / f"{k}.npz", data=content)
    script = tmp_path / "page.py"
    script.write_text(lines, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    data = runpy.run_path(str(script), init_globals={"np": np, "FederatedData": FederatedData})["data"]
    assert (data.num_clients, data.num_features, len(data.test_labels)) == (20, 4, 40)
    np.testing.assert_array_equal(data.client(7)[0], np.full((3, 4), np.float32(7 / 20)))


@pytest.mark.slow
def test_the_real_files_hold_balanced_classes():
    try:
        (x, y), (x_test, y_test) = fashion_mnist()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    assert (x.shape, x_test.shape) == ((60_000, 784), (10_000, 784))
    assert np.bincount(y).tolist() == [6000] * 10
    assert np.bincount(y_test).tolist() == [1000] * 10
    # The data set's authors give mean 0.2860 and deviation 0.3530, which torchvision's users normalize with.
    assert (round(float(x.mean(dtype=np.float64)), 4), round(float(x.std(dtype=np.float64)), 4)) == (0.286, 0.353)
