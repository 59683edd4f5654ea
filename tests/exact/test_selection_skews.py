"""Selection skews, against hand computation, fine grids, sampled models and an independent method."""

# mypy: allow-untyped-calls, disable-error-code="arg-type"

from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from fedtheory.datasets.quadratics import power_of_choice_quadratics
from fedtheory.exact._diagonal import diagonal_bound, proved_bound, ranked_matrices
from fedtheory.exact._forms import forms
from fedtheory.exact._problem import problem_of
from fedtheory.exact._ranking import largest_product
from fedtheory.exact.selection_skews import selection_skew
from fedtheory.exact.skew_intervals import SelectionSkew
from fedtheory.exact.skews import skew, skew_extremes
from fedtheory.exact.subsets import subset_minima
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.sampling.inclusion import inclusion_by_losses
from fedtheory.selection.full import Full
from fedtheory.selection.laws import Ranked
from fedtheory.selection.power_of_choice import PowerOfChoice
from fedtheory.selection.proportional import Proportional
from fedtheory.selection.uniform import Uniform
from fedtheory.statistics.interval import Interval


def federation(seed, num_clients=5, dim=2, minima=0.0):
    rng = np.random.default_rng(seed)
    weights = rng.random(num_clients) + 0.05
    return QuadraticFederation(
        rng.uniform(0.3, 3.0, num_clients), rng.standard_normal((num_clients, dim)), weights / weights.sum(),
        minima * rng.random(num_clients),
    )  # fmt: skip


def law_of(fed, m, d):
    inclusion = inclusion_by_losses(fed.weights, m, d)
    return Ranked(lambda values: inclusion(np.asarray(values)) / m, prefers_large=True, favors_heavy=True)


def skews_on_a_grid(fed, m, d, models):
    """rho_bar (exact over w'), rho_tilde and the diagonal skew over the given models only."""
    bar, tilde, diagonal = float("inf"), float("-inf"), float("inf")
    for w in models:
        q = law_of(fed, m, d).frequencies(fed.losses(w))
        bar = min(bar, skew_extremes(fed, q / q.sum())[0])
        tilde = max(tilde, float(skew(fed, q / q.sum(), fed.minimizer)))
        diagonal = min(diagonal, float(skew(fed, q / q.sum(), w)))
    return bar, tilde, diagonal


def test_a_diagonal_skew_that_is_least_at_infinity_is_found_there():
    # Equal curvatures and minima, no two centers alike: larger losses are preferred, so that the skew is above 1
    # wherever losses differ, and it falls to 1 as they become alike.
    fed = QuadraticFederation(np.ones(3), [[-1.0], [0.25], [2.0]], [0.5, 0.3, 0.2])
    least = selection_skew(fed, PowerOfChoice(1, 2)).rho_diagonal
    assert least.lower <= 1 <= least.upper
    assert least.width < 3e-13


def test_unequal_minima_keep_rho_tilde_below_its_rearrangement_bound():
    # F_1 = (w - 1/5)^2/2 + 50 ranks first for all moderate w although it is nearly optimal at w* = 1/15. There the
    # excess losses are (256, 4, 196)/450, and q is (2/3, 1/3, 0) by rank.
    fed = QuadraticFederation(np.ones(3), [[-1.0], [0.2], [1.0]], np.full(3, 1 / 3), [0.0, 50.0, 0.0])
    excess = [Fraction(256, 450), Fraction(4, 450), Fraction(196, 450)]
    gap = sum(excess) / 3
    moderate = (2 * excess[1] + excess[0]) / 3 / gap
    assert moderate == Fraction(11, 19)  # 0.578947368421
    assert float(moderate) == pytest.approx(0.578947368421, rel=1e-12)
    # beyond w = 248/6 the ranking is 0, 1, 2, so that the supremum over all models is larger
    everywhere = (2 * excess[0] + excess[1]) / 3 / gap
    rearranged = (2 * excess[0] + excess[2]) / 3 / gap
    assert float(rearranged) == pytest.approx(1.552631578947, rel=1e-12)
    rho_tilde = selection_skew(fed, PowerOfChoice(1, 2)).rho_tilde
    np.testing.assert_allclose(tuple(rho_tilde), float(everywhere), rtol=1e-12)
    largest = largest_product(law_of(fed, 1, 2), np.array(excess, dtype=float))
    assert largest / float(gap) == pytest.approx(float(rearranged), rel=1e-14)
    tilde = skews_on_a_grid(fed, 1, 2, np.linspace(-40, 40, 401)[:, None])[1]
    assert tilde == pytest.approx(float(moderate), rel=1e-12)
    # the same in two dimensions, where only the bound from above is certified
    plane = QuadraticFederation(fed.curvatures, np.hstack([fed.centers, np.zeros((3, 1))]), fed.weights, fed.minima)
    two = selection_skew(plane, PowerOfChoice(1, 2), num_models=1000).rho_tilde
    assert two.upper == pytest.approx(float(rearranged), rel=1e-12)
    assert two.upper_by == "rearrangement"
    assert two.lower == pytest.approx(float(everywhere), rel=1e-12)


@pytest.mark.parametrize("strategy", [Full(), Proportional(2), Uniform(2, "weighted")])
def test_unbiased_strategies_have_the_skew_one_and_nothing_beside(strategy):
    fed = federation(1)
    assert [tuple(side) for side in selection_skew(fed, strategy)] == [(1.0, 1.0)] * 3
    q = strategy.law(fed.weights).mean
    assert skew_extremes(fed, q) == pytest.approx((1.0, 1.0), rel=1e-12)
    alike = QuadraticFederation(fed.curvatures, fed.centers[:1].repeat(fed.num_clients, axis=0), fed.weights)
    assert tuple(selection_skew(alike, strategy).rho_tilde) == (0.0, np.inf)


@pytest.mark.parametrize("strategy", [Uniform(2), PowerOfChoice(2, 2)])
def test_fixed_frequencies_are_exact(strategy):
    fed = federation(1)
    rho_bar, rho_tilde, rho_diagonal = selection_skew(fed, strategy)
    assert rho_bar == rho_diagonal
    q = strategy.law(fed.weights).mean
    for interval, value in ((rho_bar, skew_extremes(fed, q)[0]), (rho_tilde, skew(fed, q, fed.minimizer))):
        assert interval.lower < value < interval.upper
        assert interval.width <= 3e-13 * value
    assert {side.lower_by for side in (rho_bar, rho_tilde, rho_diagonal)} == {"fixed frequencies"}


def test_the_instance_of_the_paper_has_a_rho_bar_below_one_and_a_diagonal_skew_above():
    fed = power_of_choice_quadratics(12, 5, rng=0)
    skews = [selection_skew(fed, PowerOfChoice(2, d), num_models=200) for d in (2, 4, 12)]
    assert all(s.rho_bar.upper < 1 for s in skews)
    assert [s.rho_bar.upper for s in skews] == sorted((s.rho_bar.upper for s in skews), reverse=True)
    assert all(s.rho_diagonal.lower > 1 for s in skews[1:])
    assert (np.diff([s.rho_diagonal.lower for s in skews]) >= -1e-9).all()
    assert all(s.rho_diagonal.width < 0.2 for s in skews)


def best_of_all_vertices(matrices, law, num_clients, rng):
    """Smallest eigenvalue at random mixtures of all vertices: never above the maximum that is claimed."""
    vertices = np.array([law.frequencies(-np.array(order, dtype=float)) for order in permutations(range(num_clients))])
    mixtures = rng.dirichlet(np.full(len(vertices), 0.05), size=300) @ vertices
    return max(np.linalg.eigvalsh(np.tensordot(q, matrices, 1))[0] for q in mixtures)


@pytest.mark.parametrize("minima", [0.0, 2.0])
@pytest.mark.parametrize("seed", range(3))
def test_the_cutting_planes_close_their_gap_and_no_mixture_of_vertices_is_better(seed, minima):
    fed = federation(seed, 5, 3, minima)
    law = law_of(fed, 1, 3)
    matrices = ranked_matrices(forms(fed), fed.minima, law)
    bound = diagonal_bound(matrices, law)
    assert bound.gap <= 1e-8
    assert best_of_all_vertices(matrices, law, 5, np.random.default_rng(seed)) <= bound.value + bound.gap + 1e-12


def test_ignoring_unequal_minima_would_give_a_lower_bound_that_is_false():
    fed = QuadraticFederation(np.ones(3), [[-1.0, 0.0], [0.2, 0.1], [1.0, 0.0]], np.full(3, 1 / 3), [0.0, 50.0, 0.0])
    law = law_of(fed, 1, 2)
    attained = skews_on_a_grid(fed, 1, 2, np.random.default_rng(0).standard_normal((200, 2)))[2]
    naive = diagonal_bound(forms(fed).matrices, law)
    assert naive.value > attained
    assert selection_skew(fed, PowerOfChoice(1, 2), num_models=100).rho_diagonal.lower <= attained
    # The proof does not believe the eigenvalue that it is given.
    assert proved_bound(problem_of(fed), law, naive) <= attained


def test_clients_that_share_their_minimizer_say_that_rho_tilde_is_undefined():
    fed = QuadraticFederation([1.0, 2.0, 4.0], np.ones((3, 2)), np.full(3, 1 / 3))
    rho_bar, rho_tilde, rho_diagonal = selection_skew(fed, PowerOfChoice(1, 2), num_models=100)
    assert tuple(rho_tilde) == (0.0, np.inf)
    assert rho_tilde.lower_by == "0/0: objective gap 0"
    # The largest curvature has the largest loss except at the shared minimizer, where all tie: q = (0, 1/3, 2/3) gives
    # (2/3 + 8/3) / (7/3) = 10/7, and q = p gives 1 at every w'; the diagonal skew is 0/0 there.
    assert rho_bar.upper == pytest.approx(1, rel=1e-12)
    assert rho_diagonal.upper == pytest.approx(10 / 7, rel=1e-12)


def test_highest_loss_and_idle_clients():
    fed = federation(4, 5, 1)
    assert selection_skew(fed, PowerOfChoice(2, "all")) == selection_skew(fed, PowerOfChoice(2, 5))
    idle = QuadraticFederation(
        np.append(fed.curvatures, 1.0), np.vstack([fed.centers, [7.0]]), np.append(fed.weights, 0.0)
    )
    with pytest.raises(ValueError, match="num_candidates must be at most 5, the clients with positive weight, got 6"):
        selection_skew(idle, PowerOfChoice(2, "all"))
    mine, other = (selection_skew(clients, PowerOfChoice(2, 3)) for clients in (idle, fed))
    np.testing.assert_allclose([tuple(side) for side in mine], [tuple(side) for side in other], rtol=1e-12)


def test_an_idle_client_that_is_selected_by_fixed_frequencies_has_its_minimum_elsewhere():
    # |w|^2/4 + |w - c|^2/4 against |w|^2/2: the ratio is 1/2 + |w - c|^2/(2 |w|^2), least at c.
    fed = QuadraticFederation([1.0, 1.0], [[0.0, 0.0], [2.0, 1.0]], [1.0, 0.0])
    found = selection_skew(fed, Uniform(1))
    np.testing.assert_allclose([tuple(found.rho_bar), tuple(found.rho_diagonal)], 0.5, rtol=1e-12)


def test_subset_minima_that_are_known_already_give_the_same_and_must_fit():
    fed = federation(1, 6, 2)
    strategy, options = PowerOfChoice(2, 4), {"num_models": 50}
    known = selection_skew(fed, strategy, least_ratios=subset_minima(fed), **options)
    assert known == selection_skew(fed, strategy, **options)
    with pytest.raises(ValueError, match=r"least_ratios must have shape \(6,\), got \(2,\)"):
        selection_skew(fed, strategy, least_ratios=np.zeros(2))


@pytest.mark.parametrize("dim", [1, 3])
@pytest.mark.parametrize("strategy", [PowerOfChoice(2, 4), Uniform(2)], ids=repr)
def test_a_large_common_minimum_costs_no_digits(strategy, dim):
    fed = power_of_choice_quadratics(num_clients=6, dim=dim, rng=3)
    lifted = replace(fed, minima=np.full(6, 1e9))
    for low, high in zip(*(selection_skew(each, strategy, num_models=50) for each in (fed, lifted)), strict=True):
        # Losses about 1e9 rank the clients just as well, but differences of them are wrong by 1e-7.
        assert list(high) == pytest.approx(list(low), rel=1e-12)


def test_a_skew_is_rounded_outward() -> None:
    third, exact = Interval(1 / 3, 2 / 3, "rankings", "search"), Interval.exact(1 / 3, "fixed")
    lines = repr(SelectionSkew(third, Interval(0.0, np.inf), exact)).splitlines()
    for line, numbers in zip(lines[1:], ("[0.333333, 0.666667]", "[0, inf]", "[0.333333, 0.333334]"), strict=True):
        assert numbers in line
