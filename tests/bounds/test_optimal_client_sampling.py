"""The bounds of Optimal Client Sampling: forms that must agree, and limits."""

# mypy: allow-untyped-calls

import inspect
from fractions import Fraction as Q
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.bounds.recursion import unroll
from fedtheory.theorem import Bound

# Four clients with weights 1/2, 1/4, 1/8, 1/8 and two of them expected: steps of 1/200 are short enough for everything.
WORLD: dict[str, Any] = {
    "distance2": Q(13), "initial_distance2": Q(13), "gap": Q(4), "value": Q(-3), "initial_gap": Q(5),
    "value_difference": Q(-2), "displacement2": Q(3), "gradient2": Q(6), "mean_gradient2": Q(9),
    "squared_weight_gradient2": Q(2), "squared_weight_optimum_gradient2": Q(1, 2), "squared_weight_update2": Q(2),
    "mean_update2": Q(7), "sampling_error": Q(2), "update_error": Q(1, 3), "drift": Q(1, 5), "num_rounds": 6,
    "step_size": Q(1, 200), "server_step_size": Q(2), "local_steps": 3, "mu": Q(1, 2), "L": Q(3), "gamma": Q(2, 3),
    "smallest_gamma": Q(1, 2), "mean_inverse_gamma": Q(8, 5), "max_weight": Q(1, 2),
    "sum_squared_weights": Q(11, 32), "relative_noise": Q(3, 4), "sigma2": Q(5), "objective_gap": Q(2),
    "per_client_gap": Q(3, 4), "dissimilarity": Q(7, 2),
}  # fmt: skip


def pick(bound, **changes):
    world = WORLD | changes
    return {name: world[name] for name in inspect.signature(bound).parameters if name in world}


@given(st.integers(1, 50), st.integers(1, 20), st.integers(4, 19))
def test_with_one_local_step_fedavg_is_bounded_by_no_less_than_dsgd(share, noise, gap) -> None:
    changes = {"local_steps": 1, "step_size": Q(1, 200 + 40 * noise), "relative_noise": Q(noise, 4), "gap": Q(gap)}
    changes["gamma"] = Q(50 + share, 100)
    pairs: list[tuple[Bound, Bound]] = [
        (ocs.fedavg_strongly_convex, ocs.dsgd_strongly_convex),
        (ocs.fedavg_nonconvex, ocs.dsgd_nonconvex),
    ]
    for fedavg, dsgd in pairs:
        assert fedavg(**pick(fedavg, **changes)) >= dsgd(**pick(dsgd, **changes))


def test_with_everybody_sampled_theorem_13_is_equation_21() -> None:
    changes = {"smallest_gamma": Q(1), "mean_inverse_gamma": Q(1), "relative_noise": Q(0)}
    full = ocs.full_participation(**pick(ocs.full_participation))
    assert ocs.dsgd_contraction(**pick(ocs.dsgd_contraction, **changes)) == full


def test_equal_weights_make_the_per_client_variant_a_theorem() -> None:
    equal = {"max_weight": Q(1, 4), "sum_squared_weights": Q(1, 4), "per_client_gap": WORLD["objective_gap"] / 4}
    variant, theorem = ocs.dsgd_per_client_variant, ocs.dsgd_strongly_convex
    assert variant(**pick(variant, **equal)) == theorem(**pick(theorem, **equal))


def test_equation_22_is_equation_21_unrolled_and_rounded_up() -> None:
    constants = {"mu": 0.5, "L": 3.0, "sum_squared_weights": 0.25, "sigma2": 5.0}
    exact = unroll(
        ocs.full_participation, initial_distance2=2.0, step_sizes=np.full(400, 0.3), local_steps=1, **constants
    )
    closed = [
        ocs.full_participation_distance(k, initial_distance2=2.0, step_size=0.3, **constants) for k in (0, 5, 400)
    ]
    assert (np.array(closed)[:2] > exact[[0, 5]]).all()
    assert closed[-1] == pytest.approx(exact[-1], rel=1e-12)


def test_averaged_gradients_are_the_one_round_bounds_summed() -> None:
    same = {"mean_inverse_gamma": 1 / WORLD["gamma"], "gradient2": Q(0), "value": Q(0)}
    K, eta = WORLD["num_rounds"], WORLD["step_size"]
    # (1/2) eta sum |grad|^2 <= initial gap + K times what a round adds, and 23/64 for FedAvg.
    for average, one, factor in (
        (ocs.dsgd_average_gradient, ocs.dsgd_nonconvex, Q(1, 2)),
        (ocs.fedavg_average_gradient, ocs.fedavg_nonconvex, Q(23, 64)),
    ):
        expected = (WORLD["initial_gap"] + K * one(**pick(one, **same))) / (K * eta * factor)
        assert average(**pick(average, **same)) == expected
