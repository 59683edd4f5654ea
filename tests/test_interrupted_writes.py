"""A process that is killed or finds the disk full leaves no incomplete file."""

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.environment import ROOT

pytest.importorskip("resource", reason="limits of a process, and forks")
pytestmark = pytest.mark.slow  # starts processes, each of which imports the library

NOTHING = "FOLDER must hold the results of a study, got a folder in which metadata.json is missing"
MIXED = "FOLDER must hold the results of a study, got data.nc, which differs from the one that metadata.json lists"


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("interrupted_writes")
    command = [sys.executable, "-m", "tests.interrupted_writes", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_saved_run_is_the_old_one_or_the_new_one_whenever_its_writer_is_killed(seen) -> None:
    # Before it is flushed, and before it gets its name.
    assert seen["runs"]["killed at a step"] == ["old", "old"]
    assert seen["runs"]["killed at a step, new file"] == ["nothing", "nothing"]


def test_a_run_that_finds_the_disk_full_says_so_and_leaves_the_old_one(seen) -> None:
    for complaint, left, partial in seen["runs"]["full"]:
        assert complaint == "OSError: [Errno 27] FOLDER must have room for run.nc, got File too large"
        assert (left, partial) == ("old", [])


def test_results_of_a_study_that_was_killed_are_whole_or_refused_by_what_is_missing(seen) -> None:
    # Four files are flushed, then named; the one that seals them last.
    assert seen["studies"]["killed at a step"] == [NOTHING] * 8
    over = seen["studies"]["killed at a step, over others"]
    assert over == ["whole, seed 0"] * 5 + [MIXED] * 3
    assert seen["studies"]["again"] == ["", "whole, seed 0", []]
