"""Stragglers and noisy returns: each client against runs in which all clients are equal."""

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.federation.client_data import FederatedData
from fedtheory.selection.availability import update_weights
from fedtheory.selection.full import Full
from fedtheory.selection.power_of_choice import PowerOfChoice

FED = ft.QuadraticFederation([1.0, 2.0, 3.0], [[1.0, 0.0], [0.0, 2.0], [3.0, 3.0]], [0.5, 0.3, 0.2])


def test_those_who_stop_early_take_the_first_steps_of_the_round():
    etas = np.array([0.1, 0.2, 0.05, 0.3])
    run = ft.fedavg(FED, Full(), num_rounds=2, local_steps=[2, 1, 1], step_size=etas, record=("models",))
    assert run.config["local_steps"] == [2, 1, 1]
    # client 1 takes step 0.1 in the first round and 0.05 in the second
    w = run.models[0]
    for t, (first, second) in enumerate([(0.1, 0.2), (0.05, 0.3)]):
        one = [w[t] - first * FED.curvatures[k] * (w[t] - FED.centers[k]) for k in range(3)]
        one[0] = one[0] - second * FED.curvatures[0] * (one[0] - FED.centers[0])
        np.testing.assert_allclose(w[t + 1], FED.weights @ np.array(one), rtol=1e-13)


def test_a_client_may_take_another_number_of_steps_in_each_round():
    steps = np.array([[4, 1, 2], [1, 3, 1]])
    run = ft.fedavg(FED, Full(), num_rounds=2, local_steps=steps, step_size=0.1, record=("models",))
    w = run.models[0]
    for t in range(2):
        stayed = (1 - 0.1 * FED.curvatures.ravel()) ** steps[t]
        wanted = FED.weights @ (FED.centers + stayed[:, None] * (w[t] - FED.centers))
        np.testing.assert_allclose(w[t + 1], wanted, rtol=1e-13)
    assert run.config["local_steps"] == "given round by round"


def test_equal_numbers_of_steps_give_the_bits_of_one_number():
    data = FederatedData.from_clients([(np.eye(4) * (k + 1), [0, 1, 1, 0]) for k in range(3)])
    for fed, batch in ((FED, None), (ft.SoftmaxFederation(data), 2)):
        runs = [
            ft.fedavg(fed, PowerOfChoice(2, 3), num_rounds=8, local_steps=steps, step_size=0.1, gradient_noise=0.1,
                      batch_size=batch, record=("models",))
            for steps in (3, [3, 3, 3])
        ]  # fmt: skip
        assert runs[0].models.tobytes() == runs[1].models.tobytes()


def test_returned_models_have_noise_of_the_given_variance_per_parameter():
    """All of 6000 coordinates begin at the minimizer, so that the model of the second round is what was added."""
    variances, weights = np.array([0.0, 1.0, 4.0]), np.array([0.5, 0.3, 0.2])
    fed = ft.QuadraticFederation([1.0, 2.0, 3.0], np.zeros((3, 6000)), weights)
    off = ft.fedavg(
        fed, Full(), num_rounds=1, step_size=0.1, returned_noise=variances, num_replicates=2, record=("models",)
    ).models[:, 1]
    variance = weights**2 @ variances  # of the weighted sum, in each coordinate
    assert (np.abs(off.mean(axis=1)) < 5 * np.sqrt(variance / 6000)).all()
    assert (np.abs(off.var(axis=1) / variance - 1) < 5 * np.sqrt(2 / 6000)).all()
    # Neither other coordinates nor other replicates tell anything about one.
    for one, other in (off, (off[0, :-1], off[0, 1:])):
        assert abs(np.corrcoef(one, other)[0, 1]) < 5 / np.sqrt(6000)


def test_noise_on_returns_of_nobody_is_no_noise():
    runs = [
        ft.fedavg(FED, Full(), num_rounds=3, step_size=0.1, gradient_noise=1.0, returned_noise=noise).gap
        for noise in (0.0, np.zeros(3))
    ]
    assert runs[0].tobytes() == runs[1].tobytes()


@pytest.mark.parametrize(
    ("present", "wanted"),
    [([True, True, True], [0.5, 0.3, 0.2]), ([True, False, True], [5 / 7, -1, 2 / 7]), ([False] * 3, [-1, -1, -1])],
)
def test_weights_of_a_round_are_shared_among_the_present_and_those_of_the_absent_are_minus_one(present, wanted):
    weights = np.zeros(3)
    assert update_weights(np.array(present), np.array([0.5, 0.3, 0.2]), weights) == sum(present)
    np.testing.assert_allclose(weights, wanted, rtol=1e-15)
