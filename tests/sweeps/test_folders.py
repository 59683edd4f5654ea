"""A sweep in a folder reuses results of the same function, values, seeds and versions only."""

import dataclasses
import importlib
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

import fedtheory as ft
from fedtheory._storage import identity
from fedtheory._storage.netcdf import Variable, netcdf_bytes, netcdf_content
from fedtheory.sweeps import SweepWarning
from tests.sweeps import toy

RAN: list[Any] = []


def doubled(d):
    RAN.append(d)
    return {"double": 2.0 * d, "word": "ab" * d, "row": np.arange(3) + d}


def again(folder: Path, function: Any = doubled, grid: Any = None, **options: Any) -> tuple[Any, list[Any]]:
    """Sweep into a folder; return what is found, and what has run for that."""
    RAN.clear()
    found = ft.sweep(function, grid or {"d": [1, 2, 3]}, backend="sequential", out=folder, **options)
    return found, list(RAN)


def parts(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.nc") if path.name != "data.nc")


def test_what_is_there_is_read_and_a_grid_may_grow(tmp_path):
    first, ran = again(tmp_path)
    assert ran == [1, 2, 3]
    second, ran = again(tmp_path)
    assert ran == []
    assert second.digest == first.digest
    assert second.data.identical(first.data)
    assert list(second.data.data_vars) == list(first.data.data_vars)
    larger, ran = again(tmp_path, grid={"d": [3, 7, 1]})
    assert ran == [7]
    assert larger.data["double"].values.tolist() == [6.0, 14.0, 2.0]
    assert len(parts(tmp_path)) == 4


def test_the_data_set_of_the_folder_is_that_of_the_sweep_for_any_reader(tmp_path):
    found = ft.sweep(toy.noisy, {"d": [1, 5], "tau": [2]}, seeds=[3, 4], backend="sequential", out=tmp_path)
    with xarray.open_dataset(tmp_path / "data.nc", engine="scipy") as data:
        np.testing.assert_array_equal(data["gap"], found.data["gap"])
        assert data["seed"].values.tolist() == [3, 4]
        assert "a bad" in str(data["traceback"].sel(d=5, tau=2, seed=3).values)


def fails_at_two(d):
    RAN.append(d)
    return 1 / (d - 2)


def test_what_failed_runs_again(tmp_path):
    again(tmp_path, fails_at_two)
    found, ran = again(tmp_path, fails_at_two)
    assert ran == [2]
    assert [failure.error for failure in found.failures] == ["ZeroDivisionError: division by zero"]


def halved(content: bytes) -> bytes:
    return content[: len(content) // 2]


def of_another(content: bytes) -> bytes:
    found = netcdf_content(content)
    return netcdf_bytes(found.variables, found.attrs | {"identity": "another"})


def without_order(content: bytes) -> bytes:
    found = netcdf_content(content)
    return netcdf_bytes(found.variables, {**found.attrs, "order": "[" * 10**5})


def other_variables(content: bytes) -> bytes:
    found = netcdf_content(content)
    return netcdf_bytes({"own": Variable((), np.array(1.0))}, found.attrs)


@pytest.mark.parametrize(
    "damage", [halved, of_another, without_order, other_variables, lambda _: b"", lambda _: b"\x89HDF\r\n\x1a\n"]
)
def test_a_file_that_is_not_whole_runs_again_with_a_warning(tmp_path, damage):
    before, _ = again(tmp_path)
    part = parts(tmp_path)[0]
    part.write_bytes(damage(part.read_bytes()))
    with pytest.warns(SweepWarning, match=rf"{part.name} is run again: which is .*") as warned:
        after, ran = again(tmp_path)
    assert len(ran) == len(warned) == 1
    assert after.digest == before.digest
    assert warned[0].filename == __file__


def test_many_damaged_files_are_one_warning(tmp_path):
    again(tmp_path)
    for part in parts(tmp_path):
        part.write_bytes(b"")
    with pytest.warns(SweepWarning, match=r"\(and 2 more\)$"):
        assert again(tmp_path)[1] == [1, 2, 3]


def test_a_link_or_a_pipe_in_the_place_of_a_file_is_not_followed_into_a_wait(tmp_path):
    import os

    again(tmp_path)
    part = parts(tmp_path)[0]
    part.unlink()
    os.mkfifo(part)
    with pytest.warns(SweepWarning, match="must be a regular file, got a pipe"):
        assert len(again(tmp_path)[1]) == 1
    assert part.is_file()


MODULE = """
from helper_of_a_sweep import helper

RIDGE = 1.0


def f(d, strategy=None):
    return helper(d) + RIDGE
"""
HELPER = """
def helper(d):
    return d
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Import a user's module anew with some edits."""
    folder = tmp_path / "code"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    names = ("module_of_a_sweep", "helper_of_a_sweep")

    def imported(text: str = MODULE, helper: str = HELPER) -> Any:
        (folder / "module_of_a_sweep.py").write_text(text)
        (folder / "helper_of_a_sweep.py").write_text(helper)
        for name in names:
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return importlib.import_module("module_of_a_sweep")

    yield imported
    for name in names:
        sys.modules.pop(name, None)


EDITS: dict[str, dict[str, str]] = {
    "the function": {"text": MODULE.replace("+ RIDGE", "- RIDGE")},
    "a global": {"text": MODULE.replace("1.0", "2.0")},
    "a helper in another module": {"helper": HELPER.replace("return d", "return -d")},
}


@pytest.mark.parametrize("what", EDITS)
def test_after_an_edit_of_what_a_function_refers_to_everything_runs_again(tmp_path, module, what):
    grid = {"d": [1.0, 2.0]}
    before = ft.sweep(module().f, grid, backend="sequential", out=tmp_path / "out")
    assert ft.sweep(module().f, grid, backend="sequential", out=tmp_path / "out").digest == before.digest
    assert len(parts(tmp_path / "out")) == 2
    edited = module(**EDITS[what]).f
    after = ft.sweep(edited, grid, backend="sequential", out=tmp_path / "out")
    assert after.data["value"].values.tolist() == [edited(1.0), edited(2.0)]
    assert len(parts(tmp_path / "out")) == 4


@dataclasses.dataclass(frozen=True)
class Setting:
    size: float


@dataclasses.dataclass(frozen=True)
class OtherSetting:
    size: float


def sized(d, one=None, seed=0):
    return float(d) + seed


CHANGES: dict[str, dict[str, Any]] = {
    "another value": {"grid": {"d": [2]}},
    "another type": {"grid": {"d": [1.0]}},
    "a truth value": {"grid": {"d": [True]}},
    "a fixed argument": {"function": partial(sized, one=1)},
    "another fixed argument": {"function": partial(sized, one=1.0)},
    "a seed": {"seeds": [0]},
    "another seed": {"seeds": [1]},
    "a derived seed": {"seeds": 1},
    "a record": {"grid": {"d": [1], "one": [Setting(1.0)]}},
    "a record with another number": {"grid": {"d": [1], "one": [Setting(2.0)]}},
    "another record": {"grid": {"d": [1], "one": [OtherSetting(1.0)]}},
    "a negative zero": {"grid": {"d": [1], "one": [-0.0]}},
    "a zero": {"grid": {"d": [1], "one": [0.0]}},
}


@pytest.mark.slow
def test_every_setting_and_seed_has_a_file_of_its_own(tmp_path):
    ft.sweep(sized, {"d": [1]}, backend="sequential", out=tmp_path)
    for number, change in enumerate(CHANGES.values(), 2):
        options = {"function": sized, "grid": {"d": [1]}, **change}
        ft.sweep(options.pop("function"), options.pop("grid"), backend="sequential", out=tmp_path, **options)
        assert len(parts(tmp_path)) == number


def test_another_fedtheory_reads_nothing_of_this_one(tmp_path, monkeypatch):
    again(tmp_path)
    monkeypatch.setattr(identity, "code_version", lambda: "0.0.1 (abc)")
    assert again(tmp_path)[1] == [1, 2, 3]


def test_a_function_that_cannot_be_identified_cannot_be_kept(tmp_path):
    lock = threading.Lock()

    def locked(d):
        with lock:
            return d

    assert ft.sweep(locked, {"d": [1]}, backend="threading").data["value"].values == [1]
    with pytest.raises(
        ValueError, match=r"out must be None for a sweep that cannot be identified: an object of _thread.lock cannot be"
    ):
        ft.sweep(locked, {"d": [1]}, backend="threading", out=tmp_path)


@pytest.mark.parametrize("result", [{"x": np.zeros(0)}, {"x": 2**60 + 1}, {"a/b": 1.0}])
def test_a_result_that_no_file_can_hold_is_a_failure(tmp_path, result):
    found = ft.sweep(lambda d: result, {"d": [1]}, backend="sequential", out=tmp_path)
    assert "to be saved" in found.failures[0].error
    assert not parts(tmp_path)


def test_data_that_no_file_can_hold_are_returned_with_a_warning(tmp_path):
    with pytest.warns(SweepWarning, match=r"data\.nc is not written: seed must contain integers of at most 2\^53"):
        found = ft.sweep(lambda d, seed: d, {"d": [1]}, seeds=[2**60 + 1], backend="sequential", out=tmp_path)
    assert found.data["value"].values == [[1]]


@pytest.mark.parametrize(
    ("out", "sentence"),
    [
        ("file/sweep", r"out must be a folder that can be written, got .*file.* \(Not a directory\)"),
        ("file", r"out must be a folder that can be written, got .*file \(File exists\)"),
        ("a\0b", "out must be a path that the system accepts"),
        (3, "out must be a path, got 3"),
    ],
)
def test_a_folder_that_cannot_be_written_is_refused_before_anything_runs(tmp_path, monkeypatch, out, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    RAN.clear()
    with pytest.raises((TypeError, ValueError), match=sentence):
        ft.sweep(doubled, {"d": [1]}, backend="sequential", out=out)
    assert RAN == []
