"""FedALIGN's rule among available clients equals the rule on the federation of these clients."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fedtheory as ft
from fedtheory.selection.availability import Available, BernoulliAvailability
from fedtheory.selection.loss_matching import LossMatching

# Clients 0, 2 and 5 have priority; the shares of the others are relative to the priority clients' data.
PRIORITY = np.array([True, False, True, False, False, True])
SHARES = np.array([0.5, 0.25, 0.3, 0.4, 0.1, 0.2])
CENTERS = np.array([[0.0, 1.0], [4.0, 0.0], [1.0, 1.0], [0.5, 0.5], [6.0, 1.0], [2.0, 0.0]])
START = np.array([3.0, 3.0])
EVERYONE = tuple(range(6))
CASES: tuple[dict[str, Any], ...] = ({}, {"num_draws": 2}, {"fraction": 0.5})


def federation(clients=EVERYONE):
    """Those of the clients that are there, the weights of the priority ones divided by their sum."""
    rows = list(clients)
    weights = np.where(PRIORITY, SHARES, 0.0)[rows]
    return ft.QuadraticFederation(1.0 + np.arange(6)[rows] / 4, CENTERS[rows], weights / weights.sum())


def matching(eps, clients=EVERYONE, **more):
    rows = list(clients)
    total = SHARES[rows][PRIORITY[rows]].sum()
    return LossMatching(PRIORITY[rows], SHARES[rows] / total, eps, **more)


def run_of(fed, strategy, num_rounds=8, **more):
    known = {"local_steps": 2, "step_size": 0.1, "initial": START, "record": ("models", "evaluations")}
    return ft.fedavg(fed, strategy, num_rounds=num_rounds, **{**known, **more})


def only(*clients):
    """The same clients are there in every round."""
    return BernoulliAvailability([float(k in clients) for k in EVERYONE])


def among(strategy, clients):
    return Available(strategy, only(*clients), "allow")


some = st.sets(st.sampled_from(EVERYONE)).map(lambda clients: tuple(sorted(clients)))


@pytest.mark.parametrize("priority", CASES, ids=repr)
@given(here=some, eps=st.sampled_from([0.0, 1.0, 4.0, np.inf]), warmup=st.integers(0, 2))
@settings(max_examples=20, deadline=None)
def test_the_absent_are_never_selected_and_without_priority_clients_nobody_is(priority, here, eps, warmup):
    run = run_of(federation(), among(matching(eps, warmup_rounds=warmup, **priority), here), num_replicates=3)
    assert run.counts[:, np.setdiff1d(EVERYONE, here)].sum() == 0
    # Without a priority client nobody knows the objective that losses are compared with.
    assert (run.counts.sum() > 0) == PRIORITY[list(here)].any()
    assert np.isfinite(run.models).all()


@pytest.mark.parametrize("eps", [1.0, 4.0, np.inf])
@pytest.mark.parametrize(
    "here", [(2,), (0, 1), (3, 5), (2, 3, 4), (1, 3, 5), (0, 1, 4, 5), (1, 2, 3, 4, 5), EVERYONE], ids=str
)
def test_a_run_among_those_present_is_the_run_of_their_own_federation(here, eps):
    among_all = run_of(federation(), among(matching(eps, warmup_rounds=2), here))
    alone = run_of(federation(here), matching(eps, clients=here, warmup_rounds=2))
    np.testing.assert_allclose(among_all.models, alone.models, rtol=1e-12)
    np.testing.assert_array_equal(among_all.counts[:, list(here)], alone.counts)
    np.testing.assert_array_equal(among_all.recorded("evaluations"), alone.recorded("evaluations"))


@pytest.mark.parametrize("eps", [0.0, 4.0, np.inf])
@pytest.mark.parametrize("here", [(0, 2, 3, 4), (1, 2, 3, 5)], ids=str)
def test_priority_clients_are_drawn_by_their_weights_among_those_present(here, eps):
    count, rows, short = 6000, list(here), 2.0**-100
    # Seen from the start, which is 0 then, and with a server that hardly moves: every round is a first one.
    seen = ft.QuadraticFederation(federation().curvatures, CENTERS - START, federation().weights)
    run = run_of(
        seen, among(matching(eps, num_draws=2), here),
        num_rounds=count, server_step_size=short, initial=np.zeros(2),
    )  # fmt: skip
    own = matching(eps, here, num_draws=2)
    law = own.inclusion_probabilities(federation(here).weights, federation(here).losses(START))
    # Two draws: the variance of a number of copies is 2 p (1 - p) with p half of its mean.
    spread = np.where(PRIORITY[rows], np.sqrt(law * (1 - law / 2) / count), 0.0)
    assert (np.abs(run.counts[0, rows] / count - law) <= 5 * spread + 1e-12).all()
    # Copies of a client return the same model, and the mean over the draws is that of all taking part.
    all_take_part = run_of(federation(here), matching(eps, clients=here), num_rounds=1).models[0, -1]
    moves = np.diff(run.models[0], axis=0) / short
    error = moves.std(axis=0) / np.sqrt(count)
    assert (np.abs(START + moves.mean(axis=0) - all_take_part) <= 5 * error + 1e-12).all()


@pytest.mark.parametrize("here", [(0, 2, 3, 4), (0, 1, 2, 3, 4, 5), (1, 2, 3, 4), (0, 3, 5)], ids=str)
def test_uniform_subsets_are_uniform_among_those_present(here):
    # round(0.5 * 3) = 2 of the priority clients and 2 of the others, or all that are there.
    count, rows = 6000, np.array(here)
    strategy = among(matching(np.inf, fraction=0.5), here)  # whatever the losses, in every round anew
    chosen = run_of(federation(), strategy, num_rounds=count, record=("selected",)).recorded("selected")[0, :-1]
    times = (chosen[:, :, None] == np.arange(6)).sum(axis=1)
    for group in (rows[PRIORITY[rows]], rows[~PRIORITY[rows]]):
        size = min(2, group.size)
        found, counts = np.unique(times[:, group], axis=0, return_counts=True)
        assert (found.sum(axis=1) == size).all()
        subsets = len(list(itertools.combinations(group, size)))
        assert len(found) == subsets
        spread = np.sqrt((1 - 1 / subsets) / subsets / count)
        assert (np.abs(counts / count - 1 / subsets) <= 5 * spread).all()


@pytest.mark.parametrize("priority", CASES, ids=repr)
def test_with_everybody_there_the_run_has_the_bits_of_the_bare_strategy(priority):
    strategy = matching(4.0, **priority)
    bare = run_of(federation(), strategy, num_replicates=3, gradient_noise=1.0)
    wrapped = run_of(
        federation(), Available(strategy, BernoulliAvailability(1.0)), num_replicates=3, gradient_noise=1.0
    )
    assert bare.models.tobytes() == wrapped.models.tobytes()
    np.testing.assert_array_equal(bare.counts, wrapped.counts)


def test_clients_without_a_share_change_nothing_when_they_are_alone():
    fed = ft.QuadraticFederation(np.ones(2), [[0.0], [2.0]], [1.0, 0.0])
    strategy = Available(LossMatching([True, True], [1.0, 0.0]), BernoulliAvailability([0.0, 1.0]), "allow")
    run = ft.fedavg(fed, strategy, num_rounds=3, step_size=0.1, initial=[1.0], record=("models",))
    np.testing.assert_array_equal(run.models, np.ones((1, 4, 1)))
