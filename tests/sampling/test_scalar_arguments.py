"""Invalid scalar arguments, such as a budget or a count, are rejected in one sentence."""

import math
import warnings
from fractions import Fraction as Q
from typing import Any

import numpy as np
import pytest

from fedtheory import sampling
from fedtheory._support.validate import probability_vector
from fedtheory.bounds import fedalign, fedavg, power_of_choice, recursion
from fedtheory.datasets.quadratics import power_law_weights
from fedtheory.sampling.correlated import NiceSampling

NORMS, WEIGHTS = [3.0, 1.0, 2.0], [0.5, 0.3, 0.2]
BUDGET, FLAT = {"norms": NORMS, "expected_size": 2}, {"mu": 1.0, "L": 2.0}
UNROLLED: dict[str, Any] = {
    **dict.fromkeys(("mu", "L", "G2", "sigma2", "rho_diagonal", "rho_tilde", "initial_distance2"), 1.0),
    "recursion": power_of_choice.one_step,
    "step_sizes": [0.1, 0.1],
    "local_steps": 1,
    "num_selected": 1,
    "objective_gap": 0.0,
}
# Each function, arguments that are fine, and the names of those that are one number.
CALLS: dict[Any, tuple[dict[str, Any], tuple[str, ...]]] = {
    sampling.optimal_probabilities: (BUDGET, ("expected_size",)),
    sampling.approximate_probabilities: ({**BUDGET, "max_iterations": 4}, ("expected_size", "max_iterations")),
    sampling.approximation_path: ({**BUDGET, "num_rescalings": 2}, ("expected_size", "num_rescalings")),
    sampling.improvement_factor: (BUDGET, ("expected_size",)),
    sampling.relative_improvement_factor: (
        {"alpha": 0.5, "num_clients": 3, "expected_size": 2},
        ("num_clients", "expected_size"),
    ),
    sampling.certificate: ({**BUDGET, "probabilities": [1.0, 1 / 3, 2 / 3]}, ("expected_size",)),
    sampling.rational_probabilities: (BUDGET, ("expected_size",)),
    NiceSampling: ({"num_clients": 3, "num_selected": 2}, ("num_clients", "num_selected")),
    power_law_weights: ({"num_clients": 3, "rng": 0}, ("num_clients",)),
    power_of_choice.decaying_step_sizes: ({"num_steps": 3, **FLAT}, ("num_steps", "mu", "L")),
    power_of_choice.weighted_step_sizes: ({"num_steps": 3, "num_selected": 2, **FLAT}, ("mu", "L", "num_selected")),
    fedavg.decaying_step_sizes: ({"num_steps": 3, "local_steps": 2, **FLAT}, ("mu", "L", "local_steps")),
    fedalign.theta: ({"priority_weights": [1.0, 0.5], "gamma": 8.0, "local_steps": 2}, ("gamma", "local_steps")),
    fedalign.rho: ({"included_gaps": [1.0, 0.5], "gamma": 8.0, "local_steps": 2, **FLAT}, ("mu", "L", "gamma")),
    recursion.elapsed_step_sizes: ({"step_sizes": [0.1, 0.2], "local_steps": 2}, ("local_steps",)),
    recursion.unroll: (UNROLLED, ("initial_distance2", "local_steps")),
    recursion.unrolled_gap: (UNROLLED, ("initial_distance2", "L")),
}
BAD: list[Any] = [
    *("1", None, True, 1j, {}, math.nan, math.inf, -1, -1.0),
    *(np.array([1, 2]), np.array([1.0, 2.0]), np.ma.array([1.0], mask=[True])),
]
EXTREME: list[Any] = [5e-324, 1e-300, 1e300, 1.7e308, Q(1, 10**400), Q(10**400)]
ALLOCATED = ("num_steps", "num_clients", "num_rescalings", "max_iterations")


def is_one_sentence(error):
    return "\n" not in str(error) and len(str(error)) < 200


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_what_is_no_such_number_is_refused_by_name_in_one_sentence(call):
    arguments, names = CALLS[call]
    call(**arguments)
    for name in names:
        for bad in BAD:
            with pytest.raises((ValueError, TypeError), match=name) as caught:
                call(**{**arguments, name: bad})
            assert is_one_sentence(caught.value), (name, bad)


def is_an_answer(call, arguments):
    """Whether the call answers with numbers or refuses in a sentence, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            result = call(**arguments)
        except (ValueError, TypeError) as error:
            return is_one_sentence(error)
    return isinstance(result, dict | NiceSampling) or not np.any(np.isnan(np.asarray(result, dtype=float)))


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_extremes_are_answered_or_refused_without_a_warning(call):
    arguments, names = CALLS[call]
    for name in names:
        for extreme in [*EXTREME, *([] if name in ALLOCATED else [2**63, 10**400])]:
            assert is_an_answer(call, {**arguments, name: extreme}), (name, extreme)


def test_normalize_is_a_truth_value():
    with pytest.raises(TypeError, match="normalize must be True or False, got 'yes'"):
        probability_vector("weights", [1.0, 1.0], normalize="yes")


def test_the_improvement_factor_of_a_vanishing_budget_is_that_of_a_tiny_one():
    # (sum t)^2/(n sum t^2) = 36/42 in the limit
    assert sampling.improvement_factor(NORMS, 5e-324) == pytest.approx(36 / 42, rel=1e-12)


def test_constants_of_a_recursion_have_one_entry_per_step():
    with pytest.raises(ValueError, match=r"G2 must be a number or one for each of the 2 steps, got shape \(3,\)"):
        recursion.unroll(**{**UNROLLED, "G2": np.ones(3)})


def test_rounds_longer_than_the_run_need_no_memory():
    assert recursion.elapsed_step_sizes([0.5, 0.25], local_steps=10**18).tolist() == [0.0, 0.5]
