"""What a sweep finds in folders: its own beginnings, other people's files, and modules beside a study."""

import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.sweeps._grid import gridded
from fedtheory.sweeps._outcomes import Outcome, variables_of
from fedtheory.sweeps._store import Store, header_of, opened, part_content
from fedtheory.sweeps._work import read_study, work_of
from fedtheory.sweeps.plans import plan
from fedtheory.sweeps.results import Sweep, SweepWarning
from tests.sweeps import toy

GRID = {"d": [1, 2]}
HEADER = header_of(work_of(toy.slow), gridded(GRID))


@pytest.mark.parametrize("left", [["parts"], [".lock"], ["parts", ".lock"]])
def test_a_folder_whose_sweep_was_killed_before_it_wrote_a_header_is_gone_on_with(tmp_path, left):
    with opened(tmp_path, HEADER):
        pass
    for path in (tmp_path / "sweep.json", tmp_path / "parts", tmp_path / ".lock"):
        if path.name not in left:
            path.rmdir() if path.is_dir() else path.unlink()
    assert len(plan(toy.slow, GRID, out=tmp_path, samples=1).missing) == 2
    assert ft.sweep(toy.slow, GRID, backend="serial", out=tmp_path).data["value"].values.tolist() == [1.5, 3.0]


def test_a_plan_refuses_a_folder_that_holds_something_else(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(ValueError, match=r"out must be a new folder or that of a sweep, got .* something else"):
        plan(toy.slow, GRID, out=tmp_path)


def test_what_is_forced_takes_no_part_of_what_was_there(tmp_path):
    ft.sweep(toy.slow, GRID, backend="serial", out=tmp_path)
    found = ft.sweep(toy.dies, GRID | {"again": [0]}, backend="serial", out=tmp_path, force=True)
    assert found.data["value"].dims == ("d", "again")
    assert not plan(toy.dies, GRID | {"again": [0]}, out=tmp_path).missing
    with pytest.raises(ValueError, match=r"of tests\.sweeps\.toy:dies, not tests\.sweeps\.toy:slow"):
        plan(toy.slow, GRID, out=tmp_path)


def test_a_plan_refuses_what_the_sweep_would_refuse_and_samples_that_are_none():
    with pytest.raises(TypeError, match="the function must take e by name"):
        plan(toy.slow, {"e": [1]}, backend="serial")
    with pytest.raises(ValueError, match="samples must be at least 1, got 0"):
        plan(toy.slow, GRID, backend="serial", samples=0)
    with pytest.raises(ValueError, match=r"max_seconds must be finite and at least 0, got -0\.5"):
        plan(toy.slow, GRID, backend="serial", max_seconds=-0.5)


def test_a_part_with_objects_in_it_is_not_unpacked():
    about = {"form": "{}", "variables": [["value", []]], "error": "", "traceback": "", "seconds": 1.0, "made_by": ""}
    for value, is_whole in ((np.array(2.0), True), (np.array(Path("any object")), False)):
        stream = io.BytesIO()
        np.savez(stream, about=np.array(json.dumps(about)), v0=value)
        if is_whole:
            assert part_content(stream.getvalue())[1].variables["value"].values == 2.0
        else:
            with pytest.raises(ValueError, match=r"a part must be a whole archive, got one that cannot be read"):
                part_content(stream.getvalue())


def test_what_is_published_tells_seconds_in_thousandths(tmp_path):
    grid = gridded({"d": [1, 2]})
    outcomes = {one.name: Outcome(variables_of(1.0), seconds=1.0617) for one in grid}
    Store(tmp_path).publish(Sweep.of(grid, outcomes))
    assert json.loads((tmp_path / "summary.json").read_text())["seconds"] == 2.123


def test_a_plan_without_time_runs_one_configuration():
    ran: list[int] = []

    def noted(d):
        ran.append(d)
        return 1.5 * d

    found = plan(noted, {"d": [3, 5, 7]}, backend="serial", max_seconds=0.0)
    assert (ran, found.cold, len(found.sampled)) == ([3], True, 1)


def test_studies_import_what_stands_beside_them(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "beside_it.py").write_text("NAME = 'from beside'")
    text = "from beside_it import NAME\nfrom fedtheory.study import Study\nSTUDY = Study(NAME, *[None] * 5)\n"
    for name in ("one.py", "other.py"):
        (tmp_path / name).write_text(text)
        assert read_study(str(tmp_path / name)).name == "from beside"
    # At the end, so that nothing there stands in for what is installed, and once.
    assert sys.path[-1] == str(tmp_path)
    assert sys.path.count(str(tmp_path)) == 1
    del sys.modules["beside_it"]
