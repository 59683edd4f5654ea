"""What is compiled is kept for other processes, and every process can read what is kept."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.environment import PLAIN_PYTHON, ROOT

FOREIGN = """
from typing import NamedTuple
import numpy as np
from numba import njit
import fedtheory as ft
from fedtheory.engine.contract import Family

class Arrays(NamedTuple):
    rows: np.ndarray
    objective: np.ndarray

@njit(cache=True, nogil=True)
def losses(problem, model, candidates, batch_size, rng, losses):
    losses[:] = 1.0

@njit(cache=True, nogil=True)
def train(problem, chosen, server_model, step_sizes, work, rng, velocity, slope, updates, mean_losses):
    updates[:] = problem.rows[0]

@njit(cache=True, nogil=True)
def excess(problem, model):
    return model[0]

class Theirs:
    num_clients, dim, weights, minimum = 2, 1, np.array([0.5, 0.5]), 0.0

@ft.engine.layout.register
def lay_out(fed: Theirs, work):
    rows = np.ones((3, 1))
    rows.setflags(write=False)
    return Family(Arrays(rows, np.ones((1, 1))), losses, train, excess, reference=0.0)
"""
RUN = "print(ft.fedavg(fed, ft.selection.Uniform(1), num_rounds=2, step_size=0.5, record=('gap',)).gap)"
OURS = f"import fedtheory as ft; fed = ft.QuadraticFederation([1.0, 1.0], [[0.0], [0.0]], [0.5, 0.5]); {RUN}"


@pytest.mark.slow  # two processes compile the round loop
@pytest.mark.skipif(PLAIN_PYTHON, reason="nothing is compiled")
def test_a_family_of_somebody_else_leaves_nothing_in_the_cache_that_another_process_cannot_read(tmp_path):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "family_of_somebody.py").write_text(FOREIGN)
    theirs = f"import fedtheory as ft, family_of_somebody; fed = family_of_somebody.Theirs(); {RUN}"
    for program, path, wanted in ((theirs, [tmp_path / "theirs"], "[[0. 1. 2.]]"), (OURS, [], "[[0. 0. 0.]]")):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [ROOT, *path])),
                       "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "NUMBA_OPT": "1"}  # fmt: skip
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path)
        assert (done.stdout.strip(), done.returncode) == (wanted, 0), done.stderr
    assert len(list((tmp_path / "cache").rglob("loop.run_replicates-*.nbc"))) == 1


INCLUSION = """
import numpy as np
from fedtheory.sampling import power_of_choice_inclusion

for seed, num_clients in ((0, 30), (3, 50)):
    rng = np.random.default_rng(seed)
    weights, losses = rng.uniform(1, 5, num_clients), rng.integers(0, 9, num_clients)
    print(power_of_choice_inclusion(weights, losses, 4, 9).tobytes().hex())
"""


@pytest.mark.slow
@pytest.mark.skipif(PLAIN_PYTHON, reason="nothing is compiled")
def test_code_that_was_just_compiled_gives_the_bits_of_code_that_was_kept(tmp_path):
    """Sums that may be reordered are optimized anew in each caller: which copy is called must not be chance."""
    other = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    environment = {**other, "NUMBA_CACHE_DIR": str(tmp_path)}
    first, again = (
        subprocess.run([sys.executable, "-c", INCLUSION], capture_output=True, check=True, env=environment, cwd=ROOT)
        for _ in range(2)
    )
    assert first.stdout
    assert first.stdout == again.stdout


TWICE = """
from fedtheory._support.jit import compiled

@compiled
def twice(x):
    return 2 * x
"""


@pytest.mark.slow
@pytest.mark.skipif(PLAIN_PYTHON, reason="nothing is compiled")
@pytest.mark.parametrize("is_named", [False, True])
def test_where_no_folder_can_be_written_code_is_compiled_with_one_warning(tmp_path: Path, is_named: bool) -> None:
    # Root may write anywhere, but not into what is no folder.
    shutil.copytree(ROOT / "fedtheory", tmp_path / "fedtheory", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in (tmp_path / "fedtheory").rglob("*/"):
        (folder / "__pycache__").write_text("")
    for file in ("no folder", "fedtheory/__pycache__"):
        (tmp_path / file).write_text("")
    (tmp_path / "fedtheory" / "twice.py").write_text(TWICE)
    closed = {"HOME": str(tmp_path / "no folder"), "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    named = {"NUMBA_CACHE_DIR": str(tmp_path / "no folder" / "within")} if is_named else {}
    others = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    program = (
        "import fedtheory.twice, fedtheory._support.exponential as e; print(e.power(0.0), fedtheory.twice.twice(3))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False,
        env=others | closed | named,
    )  # fmt: skip
    assert (done.stdout, done.returncode) == ("1.0 6\n", 0), done.stderr
    assert done.stderr.count("CacheWarning: compiled code cannot be cached") == 1
    assert "Traceback" not in done.stderr
