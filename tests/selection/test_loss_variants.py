"""cpow-d and rpow-d: their laws on small cases, their costs, and mutants."""

import itertools

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.federation.client_data import FederatedData
from fedtheory.sampling.inclusion import power_of_choice_inclusion
from fedtheory.selection.power_of_choice import PowerOfChoice

WEIGHTS = np.array([0.4, 0.3, 0.2, 0.1])
CENTERS = np.array([[0.0], [1.0], [2.0], [4.0]])
FED = ft.QuadraticFederation(np.ones(4), CENTERS, WEIGHTS)


def two_round_law(first_losses, remembered):
    """P(cohort of round 1, cohort of round 2) for rpow-d with m = 1, d = 2, the memory starting at ``first_losses``."""
    law = np.zeros((4, 4))
    one = power_of_choice_inclusion(WEIGHTS, np.asarray(first_losses, dtype=float), 1, 2)
    for k in range(4):
        memory = np.array(first_losses, dtype=float)
        memory[k] = remembered[k]
        # Infinity ties with infinity; the inclusion law wants numbers, and only their order matters.
        law[k] = one[k] * power_of_choice_inclusion(WEIGHTS, np.where(np.isinf(memory), 1e9, memory), 1, 2)
    return law


def pairs(strategy, count=8000):
    run = ft.fedavg(
        FED, strategy, num_rounds=2, step_size=1e-3, initial=[0.5], num_replicates=count, record=("models",)
    )
    # a step towards center c moves the model by 1e-3 (c - w): the cohorts can be read off
    moves = np.diff(run.models[:, :, 0], axis=1) / 1e-3 + run.models[:, :-1, 0]
    cohort = np.abs(moves[:, :, None] - CENTERS[:, 0]).argmin(axis=2)
    law = np.zeros((4, 4))
    np.add.at(law, (cohort[:, 0], cohort[:, 1]), 1 / count)
    return law


def agree(measured, law, count=8000):
    return bool((np.abs(measured - law) <= 5 * np.sqrt(law * (1 - law) / count) + 1e-12).all())


@pytest.mark.slow
def test_rpow_d_prefers_those_never_selected_and_then_the_last_reported_loss():
    # before its step client k reports F_k(0.5) = (0.5 - c)^2 / 2
    remembered = 0.5 * (0.5 - CENTERS[:, 0]) ** 2
    law = two_round_law([1e9] * 4, remembered)
    # of two candidates in round 2 one was never selected: nobody returns at once
    assert np.trace(law) == 0
    assert agree(pairs(PowerOfChoice(1, 2, loss="last")), law)


def test_rpow_d_remembers_the_mean_over_its_local_steps():
    # one client selected per round: after all were seen, the largest report wins
    steps, eta = 3, 0.25
    run = ft.fedavg(
        FED, PowerOfChoice(1, 4, loss="last"), num_rounds=5, local_steps=steps, step_size=eta, initial=[3.0],
        record=("models",), num_replicates=40,
    )  # fmt: skip
    for models in run.models[:, :, 0]:
        # (1 - eta)^3 of the distance to the client's center is left after its round
        shrink = (1 - eta) ** steps
        cohort = [
            int(np.abs((b - shrink * a) / (1 - shrink) - CENTERS[:, 0]).argmin()) for a, b in itertools.pairwise(models)
        ]
        assert sorted(cohort[:4]) == [0, 1, 2, 3]
        reports = {
            k: np.mean([0.5 * ((1 - eta) ** s * (w - CENTERS[k, 0])) ** 2 for s in range(steps)])
            for k, w in zip(cohort[:4], models, strict=False)
        }
        assert cohort[4] == max(reports, key=reports.__getitem__)


def softmax_federation():
    x = [[[0.0], [1.0], [4.0]], [[2.0], [0.5], [1.5]]]
    return ft.SoftmaxFederation(FederatedData.from_clients([(x[0], [0, 1, 0]), (x[1], [0, 0, 1])], num_classes=2))


def test_cpow_d_follows_the_exact_law_of_minibatch_losses():
    fed = softmax_federation()
    w = np.array([1.0, 0.0, -0.5, 0.25])
    # with d = K = 2 and m = 1 client 0 wins when the loss of its batch is larger: nine equally likely pairs of samples
    z = fed.inputs @ w.reshape(2, -1).T
    sample = np.log(np.exp(z).sum(axis=1)) - z[np.arange(6), fed.data.labels]
    for size in (1, 2):
        means = [
            [np.mean(batch) for batch in itertools.combinations(sample[3 * k : 3 * k + 3], size)] for k in range(2)
        ]
        wins = np.mean([a > b for a, b in itertools.product(*means)])
        assert 0 < wins < 1
        run = ft.fedavg(
            fed, PowerOfChoice(1, 2, loss="minibatch"), num_rounds=6000, step_size=1e-30, initial=w, batch_size=size,
            record=("evaluations",),
        )  # fmt: skip
        assert abs(run.counts[0, 0] / 6000 - wins) < 5 * np.sqrt(wins * (1 - wins) / 6000)
        exact = fed.losses(w)[0] > fed.losses(w)[1]
        assert abs(wins - exact) > 0.1  # exact losses would always choose the same client: the check can tell


def test_costs_of_the_variants():
    fed, names = softmax_federation(), ("uplink", "broadcasts", "evaluations")
    costs = {}
    for loss in ("exact", "minibatch", "last"):
        run = ft.fedavg(fed, PowerOfChoice(1, 2, loss), num_rounds=5, step_size=0.1, batch_size=1, record=names)
        costs[loss] = [run.recorded(name)[0, -1] / 5 for name in names]
    # per round: a model of 4 floats and 2 losses go up, 2 models down, 2 losses are evaluated
    assert costs["exact"] == costs["minibatch"] == [6, 2, 2]
    # rpow-d: a model and one number go up, one model down, nothing is evaluated
    assert costs["last"] == [5, 1, 0]
