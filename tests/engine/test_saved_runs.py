"""Runs saved on one platform come out again: to the bit on the same one, up to rounding elsewhere, and it is said."""

import re
from dataclasses import replace

import numpy as np
import pytest

import fedtheory as ft
from fedtheory._storage.provenance import provenance
from fedtheory.engine import reruns
from fedtheory.engine.trajectory import Trajectory
from tests.saved_runs import FOLDER

# What decides about bits: the compiler, what it compiles for, and NumPy's random numbers.
DECISIVE = ("processor", "numba", "numpy")
NAMES = sorted(file.stem for file in FOLDER.glob("*.nc"))


def test_there_is_a_run_of_each_family() -> None:
    assert NAMES == ["quadratic", "softmax"]


@pytest.mark.parametrize("name", NAMES)
def test_a_saved_run_comes_out_again(name: str) -> None:
    saved = Trajectory.load(FOLDER / f"{name}.nc")
    again = ft.rerun(FOLDER / f"{name}.nc")
    then, now = saved.recipe.provenance, provenance()  # type: ignore[union-attr]
    if all(then[one] == now[one] for one in DECISIVE):
        assert again.identical, again
        return
    # Elsewhere the last bits may differ, which forty rounds cannot carry far; whatever changed is named.
    told = "; ".join(again.changes)
    assert all(f"{one} was {then[one]}" in told for one in DECISIVE if then[one] != now[one])
    assert (saved.counts == again.run.counts).all()
    np.testing.assert_allclose(again.run.gap, saved.gap, rtol=1e-9)


def test_on_another_platform_a_rerun_says_what_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    here = provenance()
    monkeypatch.setattr(reruns, "provenance", lambda: {**here, "processor": "aarch64 cortex-x4", "numba": "9.0"})
    again = ft.rerun(FOLDER / "quadratic.nc")
    told = [change for change in again.changes if change.startswith(("processor", "numba"))]
    assert [re.sub(r" was .*, is ", " is ", change) for change in told] == [
        "numba is 9.0",
        "processor is aarch64 cortex-x4",
    ]
    assert "since then" in repr(again)


def test_one_bit_is_noticed() -> None:
    saved = Trajectory.load(FOLDER / "softmax.nc")
    gap = saved.gap.copy()
    gap[1, 17] = np.nextafter(gap[1, 17], np.inf)
    [sentence] = reruns.differences(replace(saved, records={**saved.records, "gap": gap}), saved)
    assert sentence.startswith("gap differs from round 17 on")
