"""The random federations of the study have the stated heterogeneity, and equal costs are compared."""

import _random_federations as study
import numpy as np
import pytest
from _random_federations import share

import fedtheory as ft

SETTING = study.Setting(
    num_clients=4, dim=2, num_selected=1, candidates=(2, 4), predicted=(2,), num_rounds=4, step_share=0.1,
    num_replicates=2, block_size=3,
)  # fmt: skip


def test_a_federation_is_as_heterogeneous_as_it_says():
    rng = np.random.default_rng(3)
    for _ in range(20):
        fed, initial, logarithm = study.federation(SETTING, rng)
        assert study.LEAST <= logarithm <= study.MOST
        assert fed.objective_gap / (float(fed.loss(initial)) - fed.minimum) == pytest.approx(10**logarithm, rel=1e-9)


def test_at_equal_cost_a_way_gets_the_rounds_that_it_can_afford():
    gaps = np.array([8.0, 4.0, 2.0, 1.0, 0.5])
    cost = np.array([0.0, 3.0, 6.0, 9.0, 12.0])
    rand = np.array([8.0, 5.0, 3.0, 2.5, 0.7])
    # After 1, 2 and 4 rounds, which cost 2, 4 and 8: 0, 1 and 2 rounds of the other, with errors 8, 4 and 2.
    found = study._ahead(gaps, cost, rand, [1, 2, 4], 2 * np.array([1, 2, 4]))
    assert found.tolist() == [[True, True, True], [False, False, False]]
    # At the price of a round there is one for one: errors 4, 2 and 0.5.
    found = study._ahead(gaps, cost, rand, [1, 2, 4], 3 * np.array([1, 2, 4]))
    assert found.tolist() == [[True, True, True], [True, True, True]]


def test_every_number_of_local_steps_meets_the_same_federations_and_another_block_others():
    one, two, other = (
        study.block(number, tau, 0, setting=SETTING)["heterogeneity"].values for number, tau in ((5, 1), (5, 3), (6, 1))
    )
    assert one.tolist() == two.tolist()
    assert set(one).isdisjoint(other)


def test_what_candidates_cost_is_what_the_run_says_it_sent():
    # The mean field has no run, and counts by the formula: m v and d losses up, d models down.
    fed, initial, _ = study.federation(SETTING, np.random.default_rng(0))
    for d in (1, 2, 4):
        run = ft.fedavg(
            fed, ft.selection.PowerOfChoice(1, d), num_rounds=3, step_size=0.1, initial=initial,
            record=("uplink", "broadcasts"),
        )  # fmt: skip
        assert (run.uplink + fed.dim * run.records["broadcasts"]).tolist() == [[0, 2 + 3 * d, 4 + 6 * d, 6 + 9 * d]]


def test_a_share_has_the_exact_limits_of_clopper_and_pearson_and_of_an_empty_bin_none():
    found = share(np.array([0, 5, 2, 0]), np.array([4, 5, 2, 0]))
    assert found[0].tolist() == [0, 1, 1, 0]
    # None of n has the upper limit at which that has probability 0.025, all of n the lower one.
    np.testing.assert_allclose(found[1], [0, 0.025 ** (1 / 5), 0.025 ** (1 / 2), 0])
    np.testing.assert_allclose(found[2], [1 - 0.025 ** (1 / 4), 1, 1, 1])
    # Half of two: P(at least one) = 1 - (1 - p)^2 = 0.025 and P(at most one) = 1 - p^2 = 0.025.
    np.testing.assert_allclose(share(np.array([1]), np.array([2]))[:, 0], [0.5, 1 - 0.975**0.5, 0.975**0.5])
