"""The studies of softmax regression: they notice wrong results, and images of one's own can be studied."""

import dataclasses
import re
import struct
from typing import Any

import numpy as np
import pytest
import xarray

import fedtheory as ft
from fedtheory import study
from tests.quick_studies import SCRIPTS, loaded
from tests.test_studies import failing


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


# As little as the studies allow; who has no such parameter does without.
SMALL = {
    "num_clients": 6, "num_rounds": 4, "halve_at": (2,), "num_instances": 2, "num_seeds": 2, "num_replicates": 2,
    "num_remembered": 6, "many": 4, "num_server": 60, "changes": (), "step_sizes": (0.1, 0.2), "num_shards": 24,
    "shards_per_client": (4,), "num_priority": (1, 2), "record_every": 2, "num_players": (3,), "stages": (1, 2),
    "num_repetitions": 2, "num_sweeps": 2, "settings": ("base",), "concentrations": (2.0,),
}  # fmt: skip
# They deal images by themselves, and have tests of their own.
OTHERS = {"fedalign_fmnist", "greedyfed_fashion", "power_of_choice_fmnist"}
OF_DIGITS = [path.stem for path in SCRIPTS if re.search("load_digits|datasets.digits|_images import", path.read_text())]


@pytest.mark.parametrize("name", sorted({*OF_DIGITS} - OTHERS))
def test_every_study_of_digits_takes_images_of_ones_own(name, files, monkeypatch) -> None:
    found = loaded(name)
    assert found.config.data == ("digits",)
    features, made = set(), ft.federation.FederatedData.__init__

    def make(self: Any, *arguments: Any, **options: Any) -> None:
        made(self, *arguments, **options)
        features.add(self.num_features)

    monkeypatch.setattr(ft.federation.FederatedData, "__init__", make)
    small = {field: value for field, value in SMALL.items() if hasattr(found.quick, field)}
    if name == "fedalign_shards":
        # Its scenarios have up to 18 clients with priority.
        small["num_clients"] = 20
    if name == "optimal_sampling_softmax":
        small["num_clients"] = (6,)
    data = found.run(dataclasses.replace(found.quick, data=files, **small), study.silent)
    assert features == {6}
    assert all(np.isfinite(values).any() for values in data.variables.values() if values.dtype.kind == "f")


def falling(rate: Any, floor: Any, rounds: Any) -> Any:
    return floor + (2.3 - floor) * np.exp(-np.asarray(rate)[..., None] * rounds)


def figure_four(speeds: tuple[float, ...], floors: tuple[float, ...]) -> xarray.Dataset:
    """Losses that fall to their floors, the same on three data sets, for one and three clients per round."""
    rounds = np.arange(0, 402, 2)
    curves = np.array([falling(speed / 50, floor, rounds) for speed, floor in zip(speeds, floors, strict=True)])
    losses = np.broadcast_to(curves[None, None, :, None], (3, 2, len(speeds), 2, rounds.size)).copy()
    names = ["rand", "pow-d, d = 2m", "pow-d, d = 10m", "adapow-d"]
    return xarray.Dataset(
        {"loss": (("instance", "num_selected", "strategy", "replicate", "round"), losses)},
        coords={"num_selected": [1, 3], "strategy": names, "round": rounds},
        attrs={"threshold": 0.7, "record_every": 2},
    )


def test_wrong_speeds_and_floors_on_synthetic_data_are_caught() -> None:
    found = loaded("power_of_choice_synthetic")
    assert failing(found, figure_four((1, 1.5, 2, 2), (0.3, 0.32, 0.5, 0.3))) == set()
    assert failing(found, figure_four((1, 0.9, 2, 2), (0.3, 0.32, 0.5, 0.3))) == {
        "with one client per round every variant reaches the threshold sooner than rand"
    }
    assert failing(found, figure_four((1, 1.5, 9, 2), (0.3, 0.32, 0.5, 0.3))) == {
        "no speed-up over the data sets reaches 3 on average"
    }
    assert failing(found, figure_four((1, 1.5, 2, 2), (0.3, 0.32, 0.5, 0.6))) == {
        "adapow-d ends below the floor of most candidates"
    }
    # Who never gets there has no speed-up.
    slow = figure_four((1, 1.5, 2, 2), (0.3, 0.32, 0.9, 0.3))
    assert "with one client per round every variant reaches the threshold sooner than rand" in failing(found, slow)
    assert "reached in 0 of 3" in str(found.table(slow).rows)
