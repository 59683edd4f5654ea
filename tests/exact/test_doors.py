"""Exact results reject the runs that the engine rejects, and accept any strategy with a law."""

# mypy: allow-untyped-calls, allow-untyped-defs

import itertools
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.exact.estimated_skews import estimated_selection_skew
from fedtheory.exact.floor import error_floor
from fedtheory.exact.mean_field import mean_field_gap
from fedtheory.exact.moments import expected_gap
from fedtheory.exact.selection_skews import selection_skew
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.selection.active_federated import ActiveFederated
from fedtheory.selection.availability import Available, BernoulliAvailability
from fedtheory.selection.independent import Independent
from fedtheory.selection.laws import Fixed, Moments, Ranked, Scheduled
from fedtheory.selection.power_of_choice import HalvingCandidates, PowerOfChoice
from fedtheory.selection.uniform import Uniform

THREE = QuadraticFederation([1.0, 2.0, 3.0], [[0.0], [1.0], [-2.0]], [0.5, 0.25, 0.25])
IDLE = QuadraticFederation([1.0, 2.0, 3.0], [[0.0], [1.0], [-2.0]], [0.5, 0.5, 0.0])

DOORS = {
    "expected_gap": lambda fed, strategy: expected_gap(fed, strategy, 2, 1, 0.1, [0.5]),
    "selection_skew": lambda fed, strategy: selection_skew(fed, strategy, num_models=4),
    "error_floor": error_floor,
    "mean_field_gap": lambda fed, strategy: mean_field_gap(fed, strategy, 2, 1, 0.1, [0.5]),
    "estimated_selection_skew": lambda fed, strategy: estimated_selection_skew(fed, strategy, [[0.5]], num_draws=2),
    "inclusion_probabilities": lambda fed, strategy: strategy.inclusion_probabilities(fed.weights, np.arange(3.0)),
}
IMPOSSIBLE = [(THREE, Uniform(4)), (THREE, Independent(3.5, "uniform")), (IDLE, PowerOfChoice(1, 3))]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(("fed", "strategy"), IMPOSSIBLE, ids=lambda value: repr(value)[:40])
def test_every_door_refuses_what_the_engine_refuses(door, fed, strategy):
    with pytest.raises(ValueError, match=r"(num_selected|num_candidates|expected_size) must be"):
        DOORS[door](fed, strategy)


UNKNOWN = [
    Independent(1),
    Independent(1, "approximate"),
    PowerOfChoice(1, 2, loss="minibatch"),
    PowerOfChoice(1, 2, loss="last"),
    ActiveFederated(1, [1, 1, 1]),
    Available(Uniform(1), BernoulliAvailability(0.9)),
]


@pytest.mark.parametrize("door", ["expected_gap", "selection_skew", "error_floor"])
@pytest.mark.parametrize("strategy", UNKNOWN, ids=repr)
def test_a_law_that_is_not_known_is_refused(door, strategy):
    assert getattr(strategy, "law", lambda _: None)(THREE.weights) is None
    with pytest.raises(TypeError, match=r"strategy must (be state-independent|have a known selection law)"):
        DOORS[door](THREE, strategy)


def test_a_schedule_has_a_law_for_each_round():
    law = PowerOfChoice(1, HalvingCandidates(1)).law(THREE.weights)
    assert isinstance(law, Scheduled)
    assert [type(one) for one in law.over(3)] == [Ranked, Fixed, Fixed]


@dataclass(frozen=True)
class Coin:
    """Train client 0 or client 1 by a coin, and double what it sends: a strategy of a user's own script."""

    def law(self, weights):
        mean = np.array([1.0, 1.0, 0.0])
        # E omega_k omega_l = 0 for k != l, and E omega_k^2 = 2.
        return Moments(mean=mean, alpha=0.0, delta=2 * mean, noise=2 * mean)


def test_a_users_state_independent_strategy_has_an_exact_expected_gap():
    h, c, eta, start = THREE.curvatures, THREE.centers[:, 0], 0.25, 1.0
    gaps = []
    for path in itertools.product((0, 1), repeat=3):
        w = start
        for k in path:
            w += 2 * eta * h[k] * (c[k] - w)
        gaps.append(float(THREE.excess([w])))
    assert expected_gap(THREE, Coin(), 3, 1, eta, [start])[-1] == pytest.approx(np.mean(gaps), rel=1e-14)


@dataclass(frozen=True)
class SmallestLoss:
    """Select the client with the smallest loss, ties by lot."""

    def law(self, weights):
        def frequencies(losses):
            smallest = losses == losses.min()
            return smallest / smallest.sum()

        return Ranked(frequencies)


def test_a_users_ranking_has_exact_skews_in_one_dimension():
    # Clients at +1 and -1: the nearer one is selected, and w' can be its center; D(w') = (w'^2 + 1)/2. At w = 0 both
    # tie: skew 1. At w > 0: (w - 1)^2 / (w^2 + 1), which is 0 at w = 1. At w* both have the same excess loss.
    fed = QuadraticFederation([1.0, 1.0], [[1.0], [-1.0]], [0.5, 0.5])
    rho_bar, rho_tilde, rho_diagonal = selection_skew(fed, SmallestLoss())
    for (lower, upper), truth in ((rho_bar, 0), (rho_tilde, 1), (rho_diagonal, 0)):
        assert lower <= truth <= upper <= truth + 3e-13


def test_a_users_ranking_has_certified_skews_in_the_plane_and_no_floor():
    rng = np.random.default_rng(3)
    fed = QuadraticFederation(rng.uniform(0.5, 2, 4), rng.standard_normal((4, 2)), np.full(4, 0.25), rng.random(4))
    rho_bar, rho_tilde, rho_diagonal = selection_skew(fed, SmallestLoss(), num_models=40)
    for w in fed.minimizer + rng.standard_normal((20, 2)) * 10 ** rng.uniform(-1, 1, (20, 1)):
        q = SmallestLoss().law(fed.weights).frequencies(fed.losses(w))
        assert rho_bar.lower <= ft.exact.skew_extremes(fed, q)[0] * (1 + 1e-12)
        assert rho_diagonal.lower <= ft.exact.skew(fed, q, w) * (1 + 1e-12)
        assert ft.exact.skew(fed, q, fed.minimizer) <= rho_tilde.upper
    assert rho_bar.lower <= rho_bar.upper <= rho_diagonal.upper
    with pytest.raises(TypeError, match="strategy must prefer the clients with the largest losses for an error floor"):
        error_floor(fed, SmallestLoss())


def test_a_ranking_that_selects_idle_clients_is_refused():
    with pytest.raises(ValueError, match=r"strategy must not select clients of weight zero, got frequency"):
        selection_skew(IDLE, SmallestLoss())


def test_fixed_frequencies_without_second_moments_have_skews_and_a_floor_but_no_expected_gap():
    @dataclass(frozen=True)
    class Known:
        def law(self, weights):
            return Fixed(np.array([0.5, 0.5, 0.0]))

    # (w^2/2 + (w - 1)^2) / 2 is least at 2/3.
    assert error_floor(THREE, Known()).minimizer == pytest.approx([float(Fraction(2, 3))], rel=1e-14)
    assert selection_skew(THREE, Known()).rho_bar.lower_by == "fixed frequencies"
    with pytest.raises(TypeError, match="with known moments of its coefficients"):
        expected_gap(THREE, Known(), 1, 1, 0.1, [0.0])
