"""The environment in which every test runs."""

import os

import pytest


def test_numba_uses_the_folder_of_this_run() -> None:
    from numba import config

    assert os.environ["NUMBA_CACHE_DIR"] == config.CACHE_DIR


def test_a_relative_tolerance_has_no_absolute_room_beside_it() -> None:
    assert pytest.approx(1e-13, rel=1e-9) != 3e-13
    assert pytest.approx(0.0) != 1e-13
    assert pytest.approx([1.0, 2e-20]) != [1.0, 3e-20]
    assert pytest.approx(1e-13, rel=1e-9) == 1e-13 * (1 + 1e-10)
    assert pytest.approx(0.0, abs=1e-12) == 1e-13


def test_linear_algebra_runs_on_one_thread() -> None:
    import numpy as np
    from threadpoolctl import threadpool_info

    assert np.ones(2) @ np.ones(2) == 2
    assert {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"} <= {1}
