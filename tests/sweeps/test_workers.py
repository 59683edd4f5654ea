"""A sweep has the same results on every backend, and keeps finished results after any interruption."""

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import fedtheory as ft
from tests.environment import ROOT, thinned
from tests.sweeps import toy

GRID = {"d": [1, 5], "tau": [1, 2, 3]}


@pytest.fixture(scope="module")
def wanted() -> Any:
    return ft.sweep(toy.noisy, GRID, seeds=3, backend="sequential")


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_every_backend_finds_the_same(wanted, backend, tmp_path):
    found = ft.sweep(toy.noisy, GRID, seeds=3, backend=backend, workers=2, out=tmp_path)
    assert found.digest == wanted.digest
    assert found.data.identical(wanted.data)


@pytest.mark.slow  # starts processes
def test_a_run_has_the_same_bits_on_processes():
    found = ft.sweep(toy.trained, {"d": [2, 5]}, seeds=2, backend="loky", workers=2)
    assert not found.failures
    assert found.digest == toy.trained_here()


def test_the_package_is_pickled_by_its_name():
    """A function of a script that uses ``ft`` is sent to processes together with ``ft``."""
    assert pickle.loads(pickle.dumps(ft)) is ft


@pytest.mark.slow  # starts processes
def test_a_function_of_a_script_that_uses_the_package_runs_on_processes(tmp_path):
    (tmp_path / "main.py").write_text(
        "import fedtheory as ft\n"
        "def doubled(d):\n"
        "    return 2.0 * ft.selection.Uniform(d).num_selected\n"
        "if __name__ == '__main__':\n"
        "    print(ft.sweep(doubled, {'d': [1, 2]}, workers=2).data['value'].values)\n",
        encoding="utf-8",
    )
    assert digest_of([sys.executable, str(tmp_path / "main.py")]) == "[2. 4.]"


@pytest.mark.slow  # starts a scheduler and two workers, seconds each
def test_a_cluster_of_dask_finds_the_same(wanted):
    distributed = pytest.importorskip("distributed", reason="dask[distributed] is not installed")
    options = {"threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
    with distributed.LocalCluster(n_workers=2, **options) as cluster, distributed.Client(cluster):
        assert ft.sweep(toy.noisy, GRID, seeds=3, backend="dask").digest == wanted.digest
        assert ft.sweep(toy.trained, {"d": [2, 5]}, seeds=2, backend="dask").digest == toy.trained_here()


@pytest.mark.slow  # starts processes
def test_workers_have_one_thread_for_linear_algebra(monkeypatch):
    for library in ("OPENBLAS", "OMP", "MKL"):
        monkeypatch.setenv(f"{library}_NUM_THREADS", "2")
    for backend in ("sequential", "threading", "loky"):
        found = ft.sweep(toy.threads, {"d": [1, 2, 3]}, backend=backend, workers=2)
        assert found.data["value"].values.tolist() == [1, 1, 1]


MAIN = """
import sys
import fedtheory as ft
from tests.sweeps import toy
if __name__ == "__main__":
    found = ft.sweep(toy.{function}, {{"d": range({size})}}, backend={backend!r}, workers=2, out=sys.argv[1])
    print(found.digest)
"""


def script(folder: Path, function: str = "slow", size: int = 40, backend: str = "threading") -> list[str]:
    """A program that sweeps into the folder ``out`` beside it, as a command."""
    file = folder / "main.py"
    file.write_text(MAIN.format(function=function, size=size, backend=backend), encoding="utf-8")
    return [sys.executable, str(file), str(folder / "out")]


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT)}


def parts(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("out/*.nc") if path.name != "data.nc")


def started(command: list[str], folder: Path, enough: int) -> "subprocess.Popen[str]":
    """Start a program in a session of its own, and wait until it has written some parts."""
    process = subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while len(parts(folder)) < enough and process.poll() is None:
        time.sleep(0.01)
    return process


def digest_of(command: list[str]) -> str:
    """Run a program to its end; return the digest that it prints."""
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.slow  # starts programs
@pytest.mark.parametrize("backend", thinned(["loky", "threading"], 2))
def test_a_sweep_that_is_killed_goes_on_to_the_same_digest(tmp_path, backend):
    command = script(tmp_path, backend=backend)
    process = started(command, tmp_path, 5)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    before = {path: path.read_bytes() for path in parts(tmp_path)}
    assert 5 <= len(before) < 40
    assert digest_of(command) == ft.sweep(toy.slow, {"d": range(40)}, backend="threading", workers=8).digest
    assert all(path.read_bytes() == content for path, content in before.items())


@pytest.mark.slow  # starts programs
@pytest.mark.parametrize("backend", thinned(["loky", "threading", "sequential"], 3))
def test_control_c_ends_a_script_in_one_line_and_keeps_what_is_finished(tmp_path, backend):
    process = started(script(tmp_path, size=4000, backend=backend), tmp_path, 5)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to every process of the program
    output, complaint = process.communicate(timeout=120)
    assert process.returncode == 130
    assert not output  # the script does not go on with half of the data
    # The process in which joblib counts semaphores may warn that one is already gone.
    lines = [text for text in complaint.splitlines() if "resource_tracker" not in text and "warnings.warn" not in text]
    *announced, line = lines
    assert [text for text in announced if not text.startswith("a sweep runs 4000 configurations")] == []
    assert line.startswith(f"{len(parts(tmp_path))} of 4000 configurations are finished: ")
    assert line.endswith("run the sweep again to go on")
    assert 5 <= len(parts(tmp_path)) < 4000


def test_a_long_sweep_without_progress_is_announced(monkeypatch):
    texts: list[str] = []

    @contextlib.contextmanager
    def announced(text):
        texts.append(text)
        yield

    monkeypatch.setattr("fedtheory.sweeps.run.announced", announced)
    ft.sweep(lambda d: 2.0 * d, {"d": [1, 2]}, backend="sequential")
    assert ["2 configurations" in text for text in texts] == [True]


def test_control_c_in_an_inner_sweep_ends_both(capfd):
    def interrupted(d: int) -> float:
        if d == 2:
            signal.raise_signal(signal.SIGINT)
        return float(d)

    def inner(tau: int) -> float:
        return float(ft.sweep(interrupted, {"d": [1, tau]}, backend="sequential").data["value"].sum())

    with pytest.raises(KeyboardInterrupt, match="1 of 3 configurations are finished"):
        ft.sweep(inner, {"tau": [1, 2, 3]}, backend="sequential")
    lines = capfd.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in lines] == [f"1 of {size} configurations are finished" for size in (2, 3)]


@pytest.mark.slow  # starts processes
def test_a_worker_that_dies_ends_a_sweep_in_one_line_and_the_next_goes_on(tmp_path):
    grid = {"d": range(60), "marker": [str(tmp_path / "marker")]}
    with pytest.raises(ValueError, match="joblib can run the sweep, got 'loky' with Terminated") as refused:
        ft.sweep(toy.dies_once, grid, backend="loky", workers=2, out=tmp_path / "out")
    assert "\n" not in str(refused.value)
    found = ft.sweep(toy.dies_once, grid, backend="loky", workers=2, out=tmp_path / "out")
    assert found.data["value"].values.ravel().tolist() == [1.5 * d for d in range(60)]
