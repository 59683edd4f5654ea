"""The environment in which every test runs."""

import os
import subprocess
import sys
from typing import NamedTuple

import pytest

from tests.environment import ROOT, pytest_collection_modifyitems


def test_numba_uses_the_folder_of_this_run() -> None:
    from numba import config

    assert os.environ["NUMBA_CACHE_DIR"] == config.CACHE_DIR


@pytest.mark.parametrize(("checked", "folder"), [("0", "kernels"), ("1", "kernels-with-checked-bounds")])
def test_kernels_with_checked_bounds_live_apart(checked: str, folder: str) -> None:
    command = [sys.executable, "-c", "import tests.environment, os; print(os.environ['NUMBA_CACHE_DIR'])"]
    environment = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    environment["NUMBA_BOUNDSCHECK"] = checked
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, env=environment).stdout
    assert shown.strip() == str(ROOT / ".pytest_cache" / "d" / folder)


def test_a_relative_tolerance_has_no_absolute_room_beside_it() -> None:
    assert pytest.approx(1e-13, rel=1e-9) != 3e-13
    assert pytest.approx(0.0) != 1e-13
    assert pytest.approx([1.0, 2e-20]) != [1.0, 3e-20]
    assert pytest.approx(1e-13, rel=1e-9) == 1e-13 * (1 + 1e-10)
    assert pytest.approx(0.0, abs=1e-12) == 1e-13


def test_figures_need_no_display() -> None:
    import matplotlib as mpl

    assert mpl.get_backend().lower() == "agg"


def test_linear_algebra_runs_on_one_thread() -> None:
    import numpy as np
    from threadpoolctl import threadpool_info

    assert np.ones(2) @ np.ones(2) == 2
    assert {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"} <= {1}


@pytest.mark.slow
def test_a_run_of_the_doctests_alone_has_the_environment_too() -> None:
    command = [sys.executable, "-m", "pytest", "-v", "--collect-only", "fedtheory/errors.py"]
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "HYPOTHESIS_"))}
    report = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env={**clean, "CI": "true"})
    assert "hypothesis profile 'ci'" in report.stdout


class Item(NamedTuple):
    nodeid: str


def test_what_compiles_comes_first_the_studies_last_and_otherwise_the_order_stays() -> None:
    study, bound, loop, text, rule = (
        Item(f"tests/{place}.py::test_a_study")
        for place in ("test_full_size", "bounds/test_b", "engine/test_e", "test_a", "selection/test_a")
    )
    items = [study, bound, loop, text, rule]
    pytest_collection_modifyitems(items)
    assert items == [loop, rule, bound, text, study]


@pytest.mark.slow
def test_ctrl_c_reaches_the_tests_of_a_background_job_too() -> None:
    code = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); import pytest, sys; sys.exit(pytest.main())"
    tests = [str(ROOT / "tests" / "test_hunt_commands.py"), "-qk", "interrupted"]
    shown = subprocess.run([sys.executable, "-c", code, *tests], cwd=ROOT, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stdout
