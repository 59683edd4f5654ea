"""Smallest constants along a run: they fulfill the hypotheses, and smaller ones do not."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.exact.selection_skews import selection_skew
from fedtheory.instances.federations import opposite_clients
from fedtheory.instances.observed import observed_gradient_bound, observed_skews, skew
from fedtheory.instances.run_draws import draw_run
from fedtheory.instances.runs import RationalRun, constant_law
from fedtheory.instances.vectors import vector
from fedtheory.sampling.cohorts import power_of_choice, with_replacement
from fedtheory.selection.power_of_choice import PowerOfChoice
from fedtheory.statistics.law import Law
from tests.instances.test_runs import opposite_run


def opposite(*, greedy: bool = False) -> RationalRun:
    """Start three rounds of two opposite clients at 2; the client with the larger loss is selected if ``greedy``."""
    fed = opposite_clients()
    select = (lambda w: power_of_choice(fed.weights, fed.losses(w), 1, 2)) if greedy else opposite_run().select
    return opposite_run(select=select, initial=vector(2), num_steps=6)


def test_the_gradient_bound_of_a_run_by_hand() -> None:
    # At 2 the gradients are 1 and 3, so 9 for the worse client; on average over the one drawn only (1 + 9)/2.
    assert observed_gradient_bound(opposite()) == 9
    # In the second round the model is 23/16 or 5/16 with equal chance (by hand: 2 - 7/16 (2 -+ 1) = 25/16 or 11/16).
    second = observed_gradient_bound(opposite(), 2, 4)
    assert second == (Fraction(25, 16) + 1) ** 2 / 2 + (Fraction(11, 16) + 1) ** 2 / 2


def test_who_never_trains_counts_at_the_start_of_every_round_that_is_begun() -> None:
    # The client at 1 always trains, from 0: after two steps of 1/4 the model is 7/16, and the other client is at -1.
    alone = replace(opposite(), select=constant_law(Law.certain((0,))), initial=vector(0))
    found = [observed_gradient_bound(replace(alone, num_steps=steps)) for steps in (1, 2, 3, 4)]
    assert found == [1, 1, Fraction(23, 16) ** 2, Fraction(23, 16) ** 2]


def test_unbiased_selection_has_skew_one() -> None:
    assert set(observed_skews(opposite())) == {1}


def test_the_highest_loss_has_skews_within_the_exact_ones() -> None:
    # Exactly rho_bar = 0, rho_tilde = 1, and the skew (|w| + 1)^2/(w^2 + 1) at w itself, at least 1; all observed ones
    # lie between, capped at infinity by L/mu = 1.
    observed = observed_skews(opposite(greedy=True))
    assert observed.rho_tilde == 1
    assert 0 <= observed.rho_bar < observed.rho_diagonal == 1


def test_the_skew_at_a_common_minimizer_is_undefined() -> None:
    run = opposite()
    alone = type(run.federation)((vector(1),), (vector(0),), vector(1), vector(0))
    shared = replace(run, federation=alone, select=constant_law(with_replacement(vector(1), 1)))
    assert skew(shared, shared.select(vector(0)), vector(0)) is None
    assert set(observed_skews(shared)) == {1}


@pytest.mark.slow
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_observed_skews_are_ordered_and_lie_within_the_certified_ones(seed: int) -> None:
    drawn = draw_run(np.random.default_rng(seed), laws=("power of choice",))
    observed, fed = observed_skews(drawn.run), drawn.run.federation
    assert 0 <= observed.rho_bar <= observed.rho_diagonal <= observed.rho_tilde
    if not fed.objective_gap or fed.dim > 1:
        return
    num_candidates = int(drawn.instance["law"].split()[3])
    certified = selection_skew(fed.rounded(), PowerOfChoice(drawn.num_selected, num_candidates))
    (least, _), (least_diagonal, _), (_, largest) = certified.rho_bar, certified.rho_diagonal, certified.rho_tilde
    # Rounding only: the certified numbers are exact in one dimension.
    assert float(observed.rho_bar) >= least - 1e-9
    assert float(observed.rho_diagonal) >= least_diagonal - 1e-9
    assert float(observed.rho_tilde) <= largest + 1e-9
