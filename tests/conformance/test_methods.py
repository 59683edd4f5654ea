"""Correct methods pass every check of the kit, and invalid methods are rejected in one sentence."""

from typing import Any

import pytest

from fedtheory.conformance import check_method
from fedtheory.methods import Scaffold
from tests.conformance.defects.methods import RIGHT


@pytest.mark.parametrize(("method", "options"), RIGHT)
def test_right_code_passes(method: Any, options: Any) -> None:
    found = check_method(method, **options)
    assert found.holds, found


def test_what_returns_nothing_or_writes_into_its_input_is_found() -> None:
    assert check_method(lambda *_: None, Scaffold()).failures[0].check == "shape"

    def writes(gradients, weights, initial, num_rounds, local_steps, step_size, rng):
        initial += 1.0
        return initial

    assert "inputs" in [one.check for one in check_method(writes, Scaffold()).failures]


@pytest.mark.parametrize(
    ("method", "like", "text"),
    [
        (Scaffold, Scaffold(), "method must be a function or a value with method_rules"),
        (Scaffold(), "scaffold", "like must be a Scaffold, Scaffnew or FedNova"),
    ],
)
def test_what_cannot_be_checked_is_refused(method: Any, like: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        check_method(method, like)
