"""The environment that every test runs in; a folder of compiled kernels belongs to one state of the sources."""

import os
import subprocess
import sys
from pathlib import Path

from tests.environment import ROOT, kernel_cache


def test_an_edited_source_gets_a_new_kernel_cache(tmp_path: Path) -> None:
    package = tmp_path / "package"
    (package / "inner").mkdir(parents=True)
    (package / "kernel.py").write_text("A = 1")
    (package / "inner" / "rule.py").write_text("B = 1")
    before = kernel_cache(package, tmp_path)
    assert kernel_cache(package, tmp_path) == before
    (package / "inner" / "rule.py").write_text("B = 2")
    assert kernel_cache(package, tmp_path) != before


def test_a_moved_source_gets_a_new_kernel_cache(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "a.py").write_text("A = 1")
    before = kernel_cache(package, tmp_path)
    (package / "a.py").rename(package / "b.py")
    assert kernel_cache(package, tmp_path) != before


def test_numba_uses_the_folder_of_this_run() -> None:
    from numba import config

    assert os.environ["NUMBA_CACHE_DIR"] == config.CACHE_DIR


def test_figures_need_no_display() -> None:
    import matplotlib as mpl

    assert mpl.get_backend().lower() == "agg"


def test_linear_algebra_runs_on_one_thread() -> None:
    import numpy as np
    from threadpoolctl import threadpool_info

    assert np.ones(2) @ np.ones(2) == 2
    assert {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"} <= {1}


def test_a_run_of_the_doctests_alone_has_the_environment_too() -> None:
    command = [sys.executable, "-m", "pytest", "-v", "--collect-only", "fedtheory/errors.py"]
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "HYPOTHESIS_"))}
    report = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env={**clean, "CI": "true"})
    assert "hypothesis profile 'ci'" in report.stdout
