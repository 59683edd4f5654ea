"""The studies of softmax regression detect wrong results, and accept a user's images."""

import dataclasses
import runpy
import struct
import sys
from typing import Any

import numpy as np
import pytest
import xarray

import fedtheory as ft
from fedtheory import study
from tests.environment import ROOT
from tests.quick_studies import SCRIPTS, loaded


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


# How the part of a study that deals images is run as small as it allows, with images of one's own.
def sampled(files: tuple[str, ...]) -> xarray.Dataset:
    found = loaded("optimal_sampling_softmax")
    small = {"num_clients": (6,), "num_rounds": 4, "num_instances": 2, "step_sizes": (0.1, 0.2), "target": 40.0}
    return found.run(dataclasses.replace(found.quick, data=files, **small), study.silent)


def valued(files: tuple[str, ...]) -> xarray.Dataset:
    found = loaded("shapley_approximation")
    small = {"num_players": (3,), "stages": (1, 2), "num_repetitions": 2, "num_sweeps": 2}
    return found.run(dataclasses.replace(found.quick, data=files, **small), study.silent)


def chosen(files: tuple[str, ...]) -> xarray.Dataset:
    found, races = loaded("power_of_choice_fmnist"), sys.modules["_fmnist_digits"]
    config = dataclasses.replace(
        found.quick, data=files, digits_clients=12, num_remembered=6, digits_rounds=40, digits_halve_at=(30,),
        digits_step_sizes=(0.01, 0.1), concentrations=(2.0,),
    )  # fmt: skip
    data: xarray.Dataset = races.costs(config, study.silent)
    # Random guessing has a third right.
    assert float(data["final"].min()) > 90
    # All are trained on, and the test files alone are tested.
    fed = races.federation(config, 2.0, np.random.SeedSequence(0))
    assert (fed.data.num_samples, len(fed.data.test_labels)) == (600, 90)
    with pytest.raises(ValueError, match="data must be digits, fashion-mnist, or four IDX files"):
        races.costs(dataclasses.replace(config, data=files[:2]), study.silent)
    return data


def aligned(files: tuple[str, ...]) -> xarray.Dataset:
    found = loaded("fedalign_images")
    config = dataclasses.replace(found.quick, data=files, num_clients=20, num_rounds=10, num_instances=2)
    data: xarray.Dataset = sys.modules["_fedalign_images"].shards(config, study.silent)
    return data


def valued_greedily(files: tuple[str, ...]) -> xarray.Dataset:
    found = loaded("greedyfed_tables")
    small = dataclasses.replace(found.quick.digits, data=files, num_server=60, num_clients=6, num_rounds=4)
    data: xarray.Dataset = sys.modules["_greedyfed_causes"].leads(
        dataclasses.replace(found.quick, digits=small), study.silent
    )
    return data


OF_IMAGES = {
    "fedalign_images": aligned, "greedyfed_tables": valued_greedily, "optimal_sampling_softmax": sampled,
    "power_of_choice_fmnist": chosen, "shapley_approximation": valued,
}  # fmt: skip


@pytest.mark.slow
def test_all_studies_of_images_are_tested_with_images_of_ones_own() -> None:
    helpers = runpy.run_path(str(ROOT / "docs" / "notebooks.py"))["helpers"]
    assert {script.stem for script in SCRIPTS if "_images" in {one.stem for one in helpers(script)}} == {*OF_IMAGES}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name.startswith("shapley") else pytest.mark.slow) for name in OF_IMAGES]
)
def test_every_study_of_digits_takes_images_of_ones_own(name, files, monkeypatch) -> None:
    features, made = set(), ft.federation.FederatedData.__init__

    def make(self: Any, *arguments: Any, **options: Any) -> None:
        made(self, *arguments, **options)
        features.add(self.num_features)

    monkeypatch.setattr(ft.federation.FederatedData, "__init__", make)
    data = OF_IMAGES[name](files)
    assert features == {6}
    assert all(np.isfinite(values).any() for values in data.variables.values() if values.dtype.kind == "f")
