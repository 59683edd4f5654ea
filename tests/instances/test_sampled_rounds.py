"""One round with independent sampling, computed exactly: against hand computation and identities."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.instances.federations import opposite_clients
from fedtheory.instances.sampled_rounds import (
    SampledRound,
    draw_quadratic_round,
    draw_wells_round,
    full_law,
    optimal_law,
    uniform_law,
)
from fedtheory.instances.vectors import combination, norm2, vector

HALF = Fraction(1, 2)


def test_a_round_of_two_clients_by_hand() -> None:
    # From 3 the gradients are 2 and 4, weighted 1 and 2. With p = 1/2 each, G is 0, 2, 4 or 6, all equally likely.
    fed = opposite_clients()
    drawn = SampledRound(fed.gradient, fed.weights, vector(3), uniform_law(HALF), step_size=Fraction(1, 4))
    assert drawn.estimates == dict.fromkeys(map(vector, (0, 2, 4, 6)), Fraction(1, 4))
    assert drawn.models == dict.fromkeys(map(vector, (3, "5/2", 2, "3/2")), Fraction(1, 4))
    # Variance by sampling (2 - 1)(1 + 4) = 5 = (1/gamma - 1) 5.
    assert (drawn.second_moment, drawn.squared_weight_update2, drawn.gamma) == (Fraction(14), Fraction(5), HALF)


def test_two_local_steps_average_their_gradients() -> None:
    # One client w^2/2 from 1, eta_l = 1/5: gradients 1 and 4/5, so Delta = 9/10 and the drift (1/5)^2/2.
    drawn = SampledRound(
        lambda _, w: w,
        vector(1),
        vector(1),
        full_law,
        step_size=Fraction(4, 5),
        local_steps=2,
        server_step_size=Fraction(2),
    )
    (path,) = drawn.paths(0)
    assert (path.update, path.mean_gradient, path.drift) == (vector("9/10"), vector("9/10"), Fraction(1, 50))
    assert drawn.models == {vector("7/25"): 1}  # 1 - 4/5 9/10


def test_the_noise_has_the_variance_of_its_constants() -> None:
    # Gradient 2, M = 9, sigma2 = 25: variance 9 * 4 + 25.
    drawn = SampledRound(
        lambda _, w: vector(2),
        vector(1),
        vector(0),
        full_law,
        Fraction(1),
        noise_factor=Fraction(3),
        noise_length=Fraction(5),
    )
    assert len(drawn.estimates) == 4
    assert drawn.second_moment - 4 == 9 * 4 + 25


@pytest.mark.slow
@settings(max_examples=20)
@given(
    seed=st.integers(0, 2**32),
    longest=st.sampled_from([1, 2]),
    draw=st.sampled_from([draw_quadratic_round, draw_wells_round]),
)
def test_the_estimator_is_unbiased_and_its_second_moment_splits(seed, longest, draw) -> None:
    drawn, _, _ = draw(np.random.default_rng(seed), longest_round=longest)
    mean = combination(list(drawn.estimates.values()), list(drawn.estimates))
    updates = [combination(list(paths.values()), [path.mean_gradient for path in paths]) for paths in drawn.clients]
    assert mean == combination(drawn.weights, updates)
    by_sampling = (1 / drawn.gamma - 1) * drawn.squared_weight_update2
    assert drawn.second_moment == by_sampling + drawn.mean_update2
    assert drawn.mean_update2 >= norm2(mean)


def test_in_the_plane_clients_are_drawn_in_proportion_to_their_largest_entries() -> None:
    probabilities = optimal_law(Fraction(1))((vector(3, 0), vector(-1, 1)))
    assert probabilities == (Fraction(3, 4), Fraction(1, 4))
