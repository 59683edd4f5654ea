"""The checks of FedALIGN's studies notice wrong data."""

# mypy: allow-untyped-calls

from typing import Any

import pytest

from tests.quick_studies import loaded, quick_result
from tests.test_studies import failing


@pytest.fixture
def quadratic(tmp_path_factory) -> Any:
    found = loaded("fedalign_quadratic")
    return found, quick_result(found, tmp_path_factory)[0].data


def test_a_wrong_bound_floor_or_inclusion_is_caught(quadratic) -> None:
    found, data = quadratic
    assert failing(found, data) == set()
    tight = data.assign(bound=data["bound"].where(data["form"] != "recursion", data["error"].sel(side="mean") / 2))
    assert "the error stays below the unrolled recursion" in failing(found, tight)
    assert "settled noise-free runs end at their floor" in failing(found, data.assign(floor=1.2 * data["floor"]))
    # Someone is included at threshold 0.
    assert "without inclusion rho is 0" in failing(found, data.assign(rho=data["rho"] + 1e-6))


def test_swapped_strategies_are_caught(quadratic) -> None:
    found, data = quadratic
    names = list(data["threshold"].values)
    swapped = data.isel(threshold=slice(None, None, -1)).assign_coords(threshold=names)
    broken = failing(found, swapped)
    assert {"theta falls with the threshold", "rho rises with the threshold", "without inclusion rho is 0"} <= broken
