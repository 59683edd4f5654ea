"""Studies of images accept a user's images."""

import dataclasses
import struct
import sys
from typing import Any

import numpy as np
import pytest
import xarray

import fedtheory as ft
from fedtheory import study
from tests.quick_studies import loaded


def idx(array: Any) -> bytes:
    """Bytes in the layout of MNIST's files."""
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.astype("u1").tobytes()


@pytest.fixture
def files(tmp_path) -> tuple[str, ...]:
    """Images of three classes, 600 to train on and 90 to test."""
    rng, files = np.random.default_rng(0), [tmp_path / name for name in ("images", "labels", "tests", "test labels")]
    for place, num in ((0, 600), (2, 90)):
        labels = rng.integers(3, size=num)
        # Each class lights up a row of its own.
        images = 200 * (np.arange(3)[:, None] == labels[:, None, None]) + rng.integers(50, size=(num, 3, 2))
        files[place].write_bytes(idx(images))
        files[place + 1].write_bytes(idx(labels))
    return tuple(map(str, files))


def valued(files: tuple[str, ...]) -> xarray.Dataset:
    found = loaded("shapley_approximation")
    small = {"num_players": (3,), "stages": (1, 2), "num_repetitions": 2, "num_sweeps": 2}
    return found.run(dataclasses.replace(found.quick, data=files, **small), study.silent)


def aligned(files: tuple[str, ...]) -> xarray.Dataset:
    found = loaded("fedalign_images")
    config = dataclasses.replace(found.quick, data=files, num_clients=20, num_rounds=10, num_instances=2)
    data: xarray.Dataset = sys.modules["_fedalign_images"].shards(config, study.silent)
    return data


OF_IMAGES = {"fedalign_images": aligned, "shapley_approximation": valued}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name.startswith("shapley") else pytest.mark.slow) for name in OF_IMAGES]
)
def test_a_study_of_digits_takes_images_of_ones_own(name, files, monkeypatch) -> None:
    features, made = set(), ft.federation.FederatedData.__init__

    def make(self: Any, *arguments: Any, **options: Any) -> None:
        made(self, *arguments, **options)
        features.add(self.num_features)

    monkeypatch.setattr(ft.federation.FederatedData, "__init__", make)
    data = OF_IMAGES[name](files)
    assert features == {6}
    assert all(np.isfinite(values).any() for values in data.variables.values() if values.dtype.kind == "f")
