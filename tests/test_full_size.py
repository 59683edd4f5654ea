"""The stored full-size results of the gallery agree with the current studies."""

import runpy
from pathlib import Path

import numpy as np
import pytest
import xarray

from fedtheory import study
from fedtheory._storage.netcdf import dataset_bytes, read_dataset
from fedtheory.study.scripts import plain_config
from tests.environment import ROOT
from tests.quick_studies import SCRIPTS, loaded, quick_result

FULL_SIZE = runpy.run_path(str(ROOT / "docs" / "full_size.py"))
STORED = sorted(folder.name for folder in FULL_SIZE["STORED"].iterdir() if folder.is_dir())


@pytest.mark.parametrize("name", sorted({script.stem for script in SCRIPTS} | set(STORED)))
def test_a_study_is_stored_at_full_size(name: str) -> None:
    assert (ROOT / "studies" / f"{name}.py").is_file()
    if name not in STORED:
        pytest.skip(f"the gallery shows {name} at its small size: nothing is stored in docs/full_size")


@pytest.mark.parametrize("name", STORED)
def test_stored_results_are_of_today_s_parameters_findings_and_columns(name: str) -> None:
    found, stored = loaded(name), study.load(FULL_SIZE["STORED"] / name)
    assert stored.metadata["config"] == plain_config(found.config)
    assert found.findings(stored.data) == stored.findings
    assert list(found.table(stored.data).rows[0]) == list(stored.table.rows[0])


def test_numbers_that_have_no_room_in_double_precision_are_kept_in_single_and_others_to_the_bit(
    tmp_path: Path,
) -> None:
    draws = np.random.default_rng(0).normal(size=60_000)
    data = xarray.Dataset({"many": ("round", draws), "few": ("round_few", draws[:3_000])})
    content = dataset_bytes(FULL_SIZE["_shortened"](data))
    (tmp_path / "data.nc").write_bytes(content)
    found = read_dataset(tmp_path / "data.nc")
    assert len(content) < 450_000 < draws.nbytes
    np.testing.assert_allclose(found["many"], draws, rtol=2.0**-24)
    np.testing.assert_array_equal(found["few"], draws[:3_000])


@pytest.mark.slow
def test_results_of_another_size_are_not_stored(tmp_path_factory: pytest.TempPathFactory) -> None:
    _, folder = quick_result(loaded("error_floor"), tmp_path_factory)
    with pytest.raises(ValueError, match="must hold error_floor at its full size, got other parameters"):
        FULL_SIZE["store"](Path(folder))
