"""Families of worst cases reject wrong arguments, and a float with the fraction that it stands for."""

import inspect
from fractions import Fraction as Q
from typing import Any

import numpy as np
import pytest

from fedtheory import worst_case
from fedtheory.bounds import fedavg as li
from fedtheory.worst_case import Problem, compare

CLASS: dict[str, Any] = {"mu": Q(1, 10), "L": 1, "distance2": 1, "objective_gap": Q(1, 2)}
STEP: dict[str, Any] = {"local_steps": 1, "step_size": Q(1, 4)}
SKEWS: dict[str, Any] = {"rho_diagonal": Q(6, 5), "rho_tilde": 2}
COMPRESSED: dict[str, Any] = {
    "num_rounds": 1, "step_size": Q(5, 8), "mu": Q(3, 5), "L": 1, "compression_error": Q(1, 3),
}  # fmt: skip
CALLS: dict[str, dict[str, Any]] = {
    "fedavg": STEP | CLASS,
    "power_of_choice": STEP | CLASS | {"num_clients": 2, "num_candidates": 2, "num_selected": 1},
    "skew_class": STEP | CLASS | SKEWS,
    "skew_class_horizon": STEP | CLASS | SKEWS | {"num_steps": 2},
    "error_floor": {**STEP, "local_steps": 2} | {name: CLASS[name] for name in ("mu", "L", "objective_gap")},
    "fedalign": STEP | CLASS | {"client_gap": 1, "threshold": 1},
    "optimal_client_sampling": CLASS | {"weights": [Q(1, 2)] * 2, "expected_size": 1, "step_size": Q(1, 4)},
    "heterogeneous_round": STEP | {"mu": 1, "L": 3, "distance2": 4, "zeta2": 1},
    "fedprox": {"proximal_weight": 4, "L": 1, "negative_curvature": 0, "gradient_dissimilarity": 2},
    "scaffold": STEP | {"mu": 1, "L": 4},
    "error_feedback": COMPRESSED | {"potential": 1},
    "ef21": COMPRESSED | {"potential": 1},
    "compressed_gradients": COMPRESSED | {"gap": 1},
}
WRONG: dict[str, Any] = {
    "a text": "x", "a list": [], "an object": object(), "not a number": float("nan"), "negative": -3, "true": True,
    "a float": 0.25, "a NumPy float": np.float64(0.25), "complex": 1j, "an array": np.zeros(2),
}  # fmt: skip
UNUSED = {
    ("fedavg", "num_selected"), ("fedavg", "num_clients"), ("skew_class", "G2"),
    ("fedprox", "negative_curvature"), ("heterogeneous_round", "num_selected"),
}  # fmt: skip
"""Arguments that are not read in these calls, or of which a negative number is no slip."""


@pytest.mark.parametrize("name", CALLS)
def test_an_argument_of_a_wrong_kind_is_refused(name: str) -> None:
    function = getattr(worst_case, name)
    for argument in inspect.signature(function).parameters:
        for kind, wrong in WRONG.items():
            if (name, argument) in UNUSED or (argument == "cells" and kind == "a list"):
                continue
            with pytest.raises((TypeError, ValueError)) as refused:
                function(**CALLS[name] | {argument: wrong})
            said = str(refused.value)
            assert "must" in said, (argument, kind, said)
            if kind in ("a float", "a NumPy float") and "Fraction" in said:
                assert said.endswith("(Fraction(1, 4))")


@pytest.mark.parametrize("given", [{"mu": 0.1}, {"G2": np.float64(0.5)}, {"muu": 3}, {"num_steps": None}])
def test_a_comparison_takes_the_constants_of_its_bound_as_fractions(given: dict[str, Any]) -> None:
    constants: dict[str, Any] = {
        "num_steps": 2, "mu": Q(1, 10), "L": 1, "local_steps": 2, "G2": 1, "weighted_sigma2": 0,
        "objective_gap": Q(1, 2), "initial_distance2": 1,
    }  # fmt: skip
    with pytest.raises((TypeError, ValueError), match=r"Fraction|close: mu|must|needs"):
        compare(li.full_participation_gap, **constants | given)


def test_rationals_of_other_libraries_are_taken() -> None:
    assert Problem().function(mu=np.int64(1), L=np.int32(2)).of.parameters["L"] == 2
