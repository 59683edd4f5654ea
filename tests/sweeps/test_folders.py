"""A sweep in a folder reuses results of the same function, values, seeds and versions only."""

import importlib
import os
import struct
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
from fedtheory._storage.files import locked
from fedtheory._storage.netcdf import file_bytes, read_file
from fedtheory.sweeps import SweepWarning
from tests.sweeps import toy

FORM = "fedtheory part 1"


def again(folder: Path, function: Any = toy.doubled, grid: Any = None, **options: Any) -> tuple[Any, list[Any]]:
    """Sweep into a folder; return what is found, and what has run for that."""
    toy.Ran.configurations.clear()
    found = ft.sweep(function, grid or {"d": [1, 2, 3]}, backend="sequential", out=folder, **options)
    return found, list(toy.Ran.configurations)


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


def test_what_failed_runs_again(tmp_path):
    again(tmp_path, toy.fails_at_two)
    found, ran = again(tmp_path, toy.fails_at_two)
    assert ran == [2]
    assert [failure.error for failure in found.failures] == ["ZeroDivisionError: division by zero"]


def changed(path: Path, **attrs: Any) -> bytes:
    return file_bytes(read_file(path, FORM).assign_attrs(attrs), FORM)


def flipped(path: Path) -> bytes:
    """Flip a bit of a number, which leaves the file whole."""
    content = path.read_bytes()
    place = content.index(struct.pack(">3i", 1, 2, 3))
    return content[: place + 3] + bytes([content[place + 3] ^ 1]) + content[place + 4 :]


DAMAGES: dict[str, Any] = {
    "half a file": lambda path: path.read_bytes()[:400],
    "another version": lambda path: file_bytes(read_file(path, FORM), "fedtheory part 0"),
    "a flipped bit": flipped,
    "another configuration": lambda path: changed(path, identity="another"),
    "no names": lambda path: changed(path, order="[" * 10**5),
    "other names": lambda path: changed(path, order='["own"]'),
    "words for a time": lambda path: changed(path, seconds="1"),
}


@pytest.mark.parametrize("what", DAMAGES)
def test_a_file_that_is_not_whole_runs_again_with_a_warning(tmp_path, what):
    before, _ = again(tmp_path, grid={"d": [1]})
    [part] = parts(tmp_path)
    part.write_bytes(DAMAGES[what](part))
    with pytest.warns(SweepWarning, match=rf"{part.name} is run again: (which|whose) .*") as warned:
        after, ran = again(tmp_path, grid={"d": [1]})
    assert len(ran) == len(warned) == 1
    assert after.digest == before.digest
    assert warned[0].filename == __file__


def test_one_sweep_at_a_time_writes_into_a_folder_and_removes_what_a_killed_one_left(tmp_path):
    (tmp_path / ".data.nc.1-1.partial").write_bytes(b"half")
    again(tmp_path)
    assert not list(tmp_path.glob(".*.partial"))
    with (
        locked(tmp_path, "others"),
        pytest.raises(ValueError, match=r"only one sweep may write into .*, got another pro"),
    ):
        again(tmp_path)


MODULE = """
from helper_of_a_sweep import helper


def f(d, strategy=None):
    return helper(d) + 1.0
"""
HELPER = """
def helper(d):
    return d
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Import a user's module anew with some edits, as if they were made long ago."""
    folder = tmp_path / "code"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    names = ("module_of_a_sweep", "helper_of_a_sweep")

    def imported(text: str = MODULE, helper: str = HELPER) -> Any:
        for name, content in zip(names, (text, helper), strict=True):
            (folder / f"{name}.py").write_text(content)
            os.utime(folder / f"{name}.py", (0, 0))
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return importlib.import_module("module_of_a_sweep")

    yield imported
    for name in names:
        sys.modules.pop(name, None)


EDITS: dict[str, dict[str, str]] = {
    "the function": {"text": MODULE.replace("+ 1.0", "- 1.0")},
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


CHANGES: list[dict[str, Any]] = [
    {}, {"grid": {"d": [2]}}, {"grid": {"d": [1], "one": [None]}}, {"function": partial(toy.sized, one=1)},
    {"seeds": [0]}, {"seeds": [1]}, {"seeds": 1}, {"version": "1"}, {"version": "2"},
]  # fmt: skip


def test_every_point_seed_function_and_version_has_a_file_of_its_own(tmp_path):
    for number, change in enumerate(CHANGES, 1):
        options = {"function": toy.sized, "grid": {"d": [1]}, **change}
        ft.sweep(options.pop("function"), options.pop("grid"), backend="sequential", out=tmp_path, **options)
        assert len(parts(tmp_path)) == number


def test_another_fedtheory_reads_nothing_of_this_one(tmp_path, monkeypatch):
    again(tmp_path)
    monkeypatch.setattr(identity, "code_version", lambda: "0.0.1 (abc)")
    assert again(tmp_path)[1] == [1, 2, 3]


def test_a_function_that_cannot_be_identified_is_kept_by_its_version_only(tmp_path):
    lock, ran = threading.Lock(), []

    def closed(d):
        with lock:
            ran.append(d)
        return d

    assert ft.sweep(closed, {"d": [1]}, backend="threading").data["value"].values == [1]
    with pytest.raises(
        ValueError, match=r"out must be None for a sweep that cannot be identified: .*closed cannot be .* give version="
    ):
        ft.sweep(closed, {"d": [1]}, backend="threading", out=tmp_path)
    for version in ("1", "1", "2"):
        ft.sweep(closed, {"d": [1]}, backend="threading", out=tmp_path, version=version)
    assert ran == [1, 1, 1]


@pytest.mark.parametrize("result", [{"x": 2**60 + 1}, {"τ": 1.0}])
def test_a_result_that_no_file_can_hold_is_a_failure(tmp_path, result):
    found = ft.sweep(toy.given, {"d": [1], "result": [result]}, backend="sequential", out=tmp_path)
    assert "to be saved" in found.failures[0].error
    assert not parts(tmp_path)


def test_a_folder_that_cannot_be_written_is_refused_before_anything_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    toy.Ran.configurations.clear()
    with pytest.raises(ValueError, match="out must be a folder that can be written"):
        ft.sweep(toy.doubled, {"d": [1]}, backend="sequential", out="file/sweep")
    assert toy.Ran.configurations == []
