"""Whatever ends a sweep in the middle, what was finished is kept, and going on leads to the same digest."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import fedtheory as ft
from fedtheory.sweeps import run as running
from tests.environment import ROOT
from tests.sweeps import toy

MAIN = """
import sys
import fedtheory as ft
from tests.sweeps import toy
if __name__ == "__main__":
    found = ft.sweep(toy.{function}, {{"d": range({size})}}, backend={backend!r}, workers=2, out=sys.argv[1])
    print(found.digest)
"""


def script(folder, function="slow", size=40, backend="threads"):
    """A program that sweeps into the folder ``out`` beside it, as a command."""
    file = folder / "main.py"
    file.write_text(MAIN.format(function=function, size=size, backend=backend), encoding="utf-8")
    return [sys.executable, str(file), str(folder / "out")]


def environment():
    return os.environ | {"PYTHONPATH": str(ROOT)}


def parts(folder):
    return sorted(folder.glob("out/parts/*.npz"))


def started(command, folder, enough):
    """Start a program in a session of its own, and wait until it has written some parts."""
    process = subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while len(parts(folder)) < enough and process.poll() is None:
        time.sleep(0.01)
    return process


def digest_of(command):
    """Run a program to its end; return the digest that it prints."""
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    return done.stdout.strip()


def killed_in_the_middle(folder, backend):
    """Kill a sweep, and go on; return how many parts the first left, and the digest of the second."""
    command = script(folder, backend=backend)
    process = started(command, folder, 5)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    before = {path: path.read_bytes() for path in parts(folder)}
    digest = digest_of(command)
    assert all(path.read_bytes() == content for path, content in before.items())
    return len(before), digest


@pytest.fixture(scope="module")
def wanted():
    return ft.sweep(toy.slow, {"d": range(40)}, backend="threads", workers=8).digest


def test_a_sweep_that_is_killed_goes_on_to_the_same_digest(tmp_path, wanted):
    left, digest = killed_in_the_middle(tmp_path, "threads")
    assert 5 <= left < 40
    assert digest == wanted


@pytest.mark.slow  # starts processes twice
def test_a_sweep_on_processes_that_is_killed_goes_on_and_its_workers_end(tmp_path, wanted):
    left, digest = killed_in_the_middle(tmp_path, "processes")
    assert 5 <= left < 40
    assert digest == wanted


@pytest.mark.slow  # starts processes, and waits for them to end
@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="looks at /proc")
def test_workers_end_when_their_parent_is_killed(tmp_path):
    process = started(script(tmp_path, size=4000, backend="processes"), tmp_path, 1)
    children = [path for path in Path("/proc").iterdir() if path.name.isdigit() and parent(path) == process.pid]
    assert len(children) >= 2
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 10
    while any(path.is_dir() for path in children) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not [path for path in children if path.is_dir()]


def parent(process):
    try:
        return int((process / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return -1


def test_a_worker_that_is_killed_costs_nothing_but_time(tmp_path):
    grid = {"d": range(8), "marker": [str(tmp_path / "marker")]}
    found = ft.sweep(toy.dies_once, grid, backend="processes", workers=2, out=tmp_path / "out")
    assert not found.failures
    assert found.digest == ft.sweep(toy.dies_once, grid, backend="serial").digest


@pytest.mark.slow  # starts processes, or clusters, four times
@pytest.mark.parametrize("backend", ["processes", "dask"])
def test_a_configuration_that_kills_its_workers_is_the_only_one_to_fail(backend):
    if backend == "dask":
        pytest.importorskip("distributed")
    found = ft.sweep(toy.dies, {"d": range(8)}, backend=backend, workers=2)
    assert [(failure.configuration, failure.error) for failure in found.failures] == [("d=3", "its worker died, twice")]
    assert found.data["value"].dropna("d").values.tolist() == [0.0, 1.5, 3.0, 6.0, 7.5, 9.0, 10.5]


@pytest.mark.slow  # starts processes four times
def test_a_sweep_whose_workers_all_die_ends_in_one_line(monkeypatch):
    monkeypatch.setattr(running, "_DEATHS", 2)
    with pytest.raises(ValueError, match="workers must live, got none that did in 3 attempts"):
        ft.sweep(toy.dies, {"d": [3], "again": range(9)}, backend="processes", workers=2)


def test_a_full_disk_ends_it_in_one_line_and_leaves_no_half_part(tmp_path):
    command = script(tmp_path, function="large", size=6, backend="serial")
    limited = f"ulimit -f 20; exec {shlex.join(command)}"
    done = subprocess.run(["bash", "-c", limited], env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert re.search(r"/out/parts must have room for \w+\.npz, got File too large", done.stderr.splitlines()[-1])
    assert len(parts(tmp_path)) == 3
    assert len(list((tmp_path / "out" / "parts").iterdir())) == 3
    assert digest_of(command) == ft.sweep(toy.large, {"d": range(6)}, backend="serial").digest
