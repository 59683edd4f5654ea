"""Closed or full standard output, a pipe instead of a file, Ctrl-C in a script: one sentence and an exit code."""

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fedtheory as ft
from fedtheory._storage import files
from fedtheory._support.streams import block_sigint
from fedtheory.datasets.idx import read_idx
from fedtheory.engine.trajectory import Trajectory
from tests.environment import ROOT, thinned

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="closes and fills what only POSIX has")

LEMMA = "power-of-choice:lemma-b1"
COMMANDS = [["list"], ["verify", LEMMA, "--instances", "1"], ["hunt", LEMMA, "--evaluations", "2"]]


@pytest.mark.slow
@pytest.mark.parametrize("command", thinned(COMMANDS, 3), ids=" ".join)
@pytest.mark.parametrize(
    ("redirected", "told"), [(">&-", "must be open, got a closed one"), ("> /dev/full", "No space left on device")]
)
def test_standard_output_that_takes_nothing_is_a_sentence(command: list[str], redirected: str, told: str) -> None:
    if "full" in redirected and not Path("/dev/full").exists():
        pytest.skip("this system has no full device")
    done = in_shell([sys.executable, "-m", "fedtheory", *command], redirected)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert told in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("redirected", "told"), [(">&-", "must be open, got a closed one"), ("> /dev/full", "No space left on device")]
)
def test_so_it_is_for_a_study(redirected: str, told: str, tmp_path: Path) -> None:
    script = tmp_path / "sums.py"
    script.write_text(STUDY)
    done = in_shell([sys.executable, str(script), "--out", str(tmp_path / "results")], redirected)
    # Where nothing is wrong yet, the study announces itself.
    errors = [line for line in done.stderr.splitlines() if "runs, and writes its results to" not in line]
    assert (done.returncode, len(errors)) == (2, 1), done.stderr
    assert told in errors[0]


STUDY = textwrap.dedent(
    """
    from dataclasses import dataclass
    from fedtheory.study import Study, Table, from_records, main

    @dataclass(frozen=True)
    class Size:
        '''Nothing to choose.'''
        terms: int = 3

    def run(size, progress):
        return from_records([{"term": 1.0 * i} for i in range(size.terms)])

    main(Study("sums", Size(), Size(), run, lambda data: Table([{"n": 3}]), lambda data: {}))
    """
)


def in_shell(command: list[str], redirected: str) -> "subprocess.CompletedProcess[str]":
    """Run a command whose standard output a shell has redirected."""
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {redirected}', "sh", *command],
        stderr=subprocess.PIPE, text=True, check=False, timeout=120, cwd=ROOT,
    )  # fmt: skip


@pytest.mark.parametrize(
    "read",
    [read_idx, files.read_json, files.read_bytes, Trajectory.load],
)
def test_a_pipe_in_the_place_of_a_file_is_a_sentence_and_no_wait(read: Callable[[Any], Any], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")  # type: ignore[attr-defined,unused-ignore]
    signal.alarm(60)  # a reader that waits ends the run of the tests
    try:
        with pytest.raises(ValueError, match=r"pipe"):
            read(tmp_path / "pipe")
    finally:
        signal.alarm(0)


def test_a_process_that_is_started_does_not_hear_control_c_and_this_one_does_afterwards() -> None:
    child = "import os, signal, time; os.kill(os.getpid(), signal.SIGINT); print('lives')"
    with block_sigint():
        shown = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True, check=False, timeout=60)
    assert (shown.returncode, shown.stdout, shown.stderr) == (0, "lives\n", "")
    with pytest.raises(KeyboardInterrupt), block_sigint():
        signal.raise_signal(signal.SIGINT)


FIRST_WORKERS = """
import signal
from joblib import Parallel, delayed
from fedtheory._support.streams import block_sigint

with block_sigint():
    blocked = Parallel(n_jobs=2)([delayed(signal.pthread_sigmask)(signal.SIG_BLOCK, ()) for _ in range(2)])
print(all(signal.SIGINT in one for one in blocked), signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))
"""


@pytest.mark.slow  # starts processes
def test_the_first_workers_of_a_process_do_not_receive_control_c_either() -> None:
    command = [sys.executable, "-c", FIRST_WORKERS]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True False\n", "")


@pytest.mark.slow
def test_all_packages_are_attributes_in_a_fresh_process() -> None:
    script = "import fedtheory\nfor name in fedtheory.__all__: getattr(fedtheory, name)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    folders = {path.parent.name for path in (ROOT / "fedtheory").glob("[!_]*/__init__.py")}
    assert folders - {"cli"} <= set(ft.__all__)  # the command line is imported as a program
