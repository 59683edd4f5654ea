"""A saved run is restored exactly, also from earlier versions, and foreign files are rejected."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

import fedtheory as ft
from fedtheory._storage.netcdf import dataset_bytes, file_bytes
from fedtheory._storage.provenance import provenance
from fedtheory.bounds import power_of_choice as poc
from fedtheory.engine.trajectory import Trajectory
from tests.saved_runs import FOLDER, runs

# What decides about bits: the compiler, what it compiles for, and NumPy's random numbers.
DECISIVE = ("processor", "numba", "numpy")
FORM = "fedtheory run 4"


@pytest.mark.parametrize("name", ["quadratic", "softmax"])
def test_a_run_that_an_earlier_version_saved_is_made_again(name: str) -> None:
    saved, again = Trajectory.load(FOLDER / f"{name}.nc"), runs()[name]
    assert saved.provenance is not None
    now = provenance()
    if all(saved.provenance[one] == now[one] for one in DECISIVE):
        assert {record: values.tobytes() for record, values in saved.records.items()} == {
            record: values.tobytes() for record, values in again.records.items()
        }
    # Elsewhere the last bits may differ, which forty rounds cannot carry far.
    assert (saved.counts == again.counts).all()
    np.testing.assert_allclose(again.gap, saved.gap, rtol=1e-9)


def made() -> Trajectory:
    fed = ft.QuadraticFederation([1.0, 1.0], [[1.0], [-1.0]], [0.5, 0.5])
    return ft.fedavg(
        fed, ft.selection.Proportional(1), num_rounds=4, step_size=0.2, initial=[3.0], num_replicates=2, rng=3,
        record=("gap", "models", "selected", "coefficients"),
    )  # fmt: skip


def test_what_is_saved_comes_back_to_the_bit_with_where_it_was_made(tmp_path: Path) -> None:
    run = made()
    run.save(tmp_path / "run.nc")
    found = Trajectory.load(tmp_path / "run.nc")
    assert {name: values.tobytes() for name, values in found.records.items()} == {
        name: values.tobytes() for name, values in run.records.items()
    }
    for name in ("counts", "diverged_at", "rounds"):
        assert getattr(found, name).tobytes() == getattr(run, name).tobytes()
    assert found.config == run.config
    assert found.provenance == provenance()
    elsewhere = dataclasses.replace(found, provenance={"numpy": "1.0"})
    elsewhere.save(tmp_path / "again.nc")
    assert Trajectory.load(tmp_path / "again.nc").provenance == {"numpy": "1.0"}


def test_the_file_of_a_run_is_a_data_set_for_any_reader(tmp_path: Path) -> None:
    run = made()
    run.save(tmp_path / "run.nc")
    with xarray.open_dataset(tmp_path / "run.nc", engine="scipy") as found:
        np.testing.assert_array_equal(found["gap"], run.gap)
        assert found["gap"].attrs == {"long_name": "F(w) - F*", "units": "1"}
        assert set(found.coords) == {"round", "strategy"}


def test_a_run_keeps_the_objects_that_it_was_called_with() -> None:
    run = made()
    assert run.settings is not None
    assert ft.fedavg(**vars(run.settings)).gap.tobytes() == run.gap.tobytes()
    ft.exact.for_run(poc.fixed_step_gap, run)


def test_arrays_that_the_caller_goes_on_to_write_into_change_nothing_of_a_run() -> None:
    start, sizes = np.array([3.0]), np.full(4, 0.2)
    fed = ft.QuadraticFederation([1.0, 1.0], [[1.0], [-1.0]], [0.5, 0.5])
    run = ft.fedavg(fed, ft.selection.Full(), num_rounds=4, step_size=sizes, initial=start)
    start[:], sizes[:] = 100.0, 1.0
    assert ft.fedavg(**vars(run.settings)).gap.tobytes() == run.gap.tobytes()


def test_a_seed_sequence_that_is_used_again_gives_other_streams_and_each_run_its_own_again() -> None:
    fed = ft.QuadraticFederation([1.0, 1.0], [[1.0], [-1.0]], [0.5, 0.5])
    seeds = np.random.SeedSequence(7)
    first, second = (
        ft.fedavg(fed, ft.selection.Proportional(1), num_rounds=9, step_size=0.1, num_replicates=3, rng=seeds)
        for _ in range(2)
    )
    assert not np.array_equal(first.counts, second.counts)
    for run in (first, second):
        assert ft.fedavg(**vars(run.settings)).gap.tobytes() == run.gap.tobytes()


def test_constants_cannot_be_read_off_a_run_that_was_loaded(tmp_path: Path) -> None:
    made().save(tmp_path / "run.nc")
    with pytest.raises(ValueError, match="a run that was loaded from a file contains data only: give fed"):
        ft.exact.for_run(poc.fixed_step_gap, Trajectory.load(tmp_path / "run.nc"))


def changed(form: str = FORM, **changes: Any) -> bytes:
    data = made().to_xarray().assign_attrs(provenance="{}")
    for name, value in changes.items():
        data = data.drop_vars(name, errors="ignore") if value is None else data
        if isinstance(value, str):
            data.attrs[name] = value
        elif value is not None:
            data = data.drop_vars(name).assign({name: value})
    return file_bytes(data, form)


STRANGE: dict[str, Any] = {
    "nothing": lambda: b"",
    "other data": lambda: dataset_bytes(xarray.Dataset({"a": ("x", [1.0])})),
    "an earlier form": lambda: changed("fedtheory run 3"),
    "no counts": lambda: changed(counts=None),
    "words for counts": lambda: changed(counts=("replicate", ["a", "b"])),
    "other rounds": lambda: changed(gap=(("replicate", "more"), np.zeros((2, 9)))),
    "a list for a configuration": lambda: changed(config=((), "[]")),
    "deep nesting": lambda: changed(config=((), "[" * 10**5)),
    "no versions": lambda: changed(provenance="3"),
}


@pytest.mark.parametrize("what", STRANGE)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, what: str) -> None:
    (tmp_path / "run.nc").write_bytes(STRANGE[what]())
    with pytest.raises(ValueError, match="path must be the file of a run, got"):
        Trajectory.load(tmp_path / "run.nc")
