"""Correct methods pass every check of the kit, and invalid methods are rejected in one sentence."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from fedtheory.conformance import check_method
from fedtheory.methods import Delayed, Scaffold
from tests.conformance.defects.methods import CAUGHT, RIGHT, averaging_of_cohorts, delayed
from tests.environment import thinned


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
    ("method", "options", "named"),
    [
        (partial(averaging_of_cohorts, fault="idle clients count"), {"num_selected": 2}, "step of m/K = 0.6667"),
        (delayed, {}, "delay of 1 round"),
        (partial(delayed, delay=3), {}, "delay of 3 rounds"),
    ],
)
def test_a_known_variant_of_averaging_is_named(method: Any, options: Any, named: str) -> None:
    failures = {failure.check: failure for failure in check_method(method, None, **options).failures}
    assert named in failures["first rounds"].sentence


@pytest.mark.parametrize("like", [Delayed((0.5, 0.5)), Delayed([0] * 20 + [1])])
def test_random_and_divergent_delays_are_refused(like: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="like must"):
        check_method(delayed, like)


@pytest.mark.slow
@pytest.mark.parametrize("seed", thinned(range(1, 5), 4))
@pytest.mark.parametrize(("method", "options"), RIGHT[10:])
def test_right_code_with_a_state_of_the_server_is_not_refused_for_any_seed(
    method: Any, options: Any, seed: int
) -> None:
    assert check_method(method, rng=seed, **options).holds


def in_single_precision(method: Any) -> Any:
    def trained(gradients, weights, initial, num_rounds, local_steps, step_size, rng, *cohorts):
        slopes = [lambda model, slope=slope: np.float32(slope(model)) for slope in gradients]
        numbers = (np.float32(weights), np.float32(initial), num_rounds, local_steps, np.float32(step_size))
        return method(slopes, *numbers, rng, *cohorts)

    return trained


@pytest.mark.parametrize(("method", "options"), [(method, options) for method, options in RIGHT if callable(method)])
def test_right_code_in_single_precision_passes_with_its_rounding_error(method: Any, options: Any) -> None:
    found = check_method(in_single_precision(method), rtol=1e-4, **options)
    assert found.holds, found


@pytest.mark.slow
@pytest.mark.parametrize(("method", "check", "options", "caught_by"), CAUGHT[:-1])
def test_defects_are_caught_with_the_rounding_error_of_single_precision(
    method: Any, check: Any, options: Any, caught_by: str
) -> None:
    found = check(in_single_precision(method), rtol=1e-4, **options)
    assert caught_by in [failure.check for failure in found.failures], found
