"""The claims about selection skews and exact quadratics refute wrong laws, orders and floors."""

# mypy: allow-untyped-defs, allow-untyped-calls

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from fedtheory.claims import exact_quadratics as exact
from fedtheory.claims import settling
from fedtheory.claims.catalogue import known_claims
from fedtheory.claims.power_of_choice import skews
from fedtheory.datasets.quadratics import power_of_choice_quadratics
from fedtheory.exact.floor import error_floor
from fedtheory.exact.mean_field import mean_field_gap
from fedtheory.exact.selection_skews import selection_skew
from fedtheory.exact.skew_intervals import SelectionSkew
from fedtheory.instances.federations import opposite_clients
from fedtheory.instances.vectors import vector
from fedtheory.sampling.cohorts import frequencies, power_of_choice
from fedtheory.selection.laws import Moments
from fedtheory.selection.power_of_choice import PowerOfChoice
from fedtheory.statistics.interval import Interval
from fedtheory.verification.verdicts import examine
from tests.claims.refutation import broken, refuted


def test_the_skews_of_the_counterexamples_are_those_done_by_hand():
    # At w = 1/2 the client at -1 is selected: (3/2)^2/2 against D = (9/4 + 1/4)/4, so 9/5; at w* = 0 both have 1/2.
    finding = examine(skews.skew_order_on_iterates).worst
    assert (finding.measured, finding.predicted) == (Fraction(9, 5), 1)
    # The same client is optimal at w' = -1.
    finding = examine(skews.rho_bar_grows).worst
    assert (finding.measured, finding.predicted) == (0, 1)


def test_a_model_where_both_losses_tie_selects_both_clients():
    fed, origin = opposite_clients(), vector(0)
    assert skews.selected_mean(fed, origin, vector(1), 1, 2) == fed.total_excess(vector(1)) == 1


def test_the_diagonal_skew_can_fall_when_the_minima_differ():
    # A client with a large minimum ranks first even where it is optimal.
    mutant = replace(skews.diagonal_grows, check=lambda rng: skews.diagonal_growth(rng, equal_minima=False))
    assert refuted(mutant)


def test_the_smallest_losses_among_the_candidates_would_make_the_diagonal_skew_fall(monkeypatch):
    def upside_down(weights, losses, m, d):
        return power_of_choice(weights, [-loss for loss in losses], m, d)

    monkeypatch.setattr(skews, "power_of_choice", upside_down)
    assert refuted(skews.diagonal_grows)


def shifted(skew: SelectionSkew, name: str, by: float) -> SelectionSkew:
    interval = getattr(skew, name)
    moved = Interval(interval.lower + by, interval.upper + by, interval.lower_by, interval.upper_by)
    return skew._replace(**{name: moved})


def test_a_rho_tilde_that_is_too_small_by_a_hundredth_is_caught(monkeypatch):
    honest = skews.selection_skew
    monkeypatch.setattr(
        skews, "selection_skew", lambda *given, **options: shifted(honest(*given, **options), "rho_tilde", -0.01)
    )
    assert refuted(skews.skew_order, num_instances=60)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("claim", "name", "moves"),
    [
        (skews.rho_bar_in_figure_3, "rho_bar", {3: 0.0, 9: 1.0, 15: 2.0}),
        (skews.diagonal_in_figure_3, "rho_diagonal", {3: 0.3, 6: 0.0, 9: 0.0}),
    ],
)
def test_figure_3_is_decided_by_certified_sides_only(claim, name, moves, monkeypatch):
    honest = skews._figure_3
    monkeypatch.setattr(skews, "_figure_3", lambda d: shifted(honest(d), name, moves[d]))
    assert examine(claim).verdict == "inconclusive"


LAWS = {
    "candidates drawn uniformly": lambda p, losses, m, d: power_of_choice([Fraction(1)] * len(p), losses, m, d),
    "one candidate less": lambda p, losses, m, d: power_of_choice(p, losses, m, max(m, d - 1)),
    "ranked upside down": lambda p, losses, m, d: power_of_choice(p, [-loss for loss in losses], m, d),
    "ties to the first": lambda p, losses, m, d: power_of_choice(
        p, [x - Fraction(k, 10**9) for k, x in enumerate(losses)], m, d
    ),
}


@pytest.mark.parametrize("name", LAWS)
def test_another_law_has_other_inclusion_probabilities(name, monkeypatch):
    monkeypatch.setattr(exact, "power_of_choice", LAWS[name])
    assert refuted(exact.inclusion)


def position_as_index(p, losses, m, d):
    """Take the position in the candidate list for the client's index, as two public implementations do."""
    law = power_of_choice(p, losses, m, d)
    return law.map(lambda chosen: tuple(range(len(chosen))))


MUTANTS = {"uniform candidates": LAWS["candidates drawn uniformly"], "position taken for index": position_as_index}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_selection_leaves_the_base_polytope(name):
    def outside(seed):
        drawn = exact.draw_ranked(np.random.default_rng(seed), most=5)
        inclusion = frequencies(MUTANTS[name](*drawn), len(drawn.weights))
        return any(finding.holds is False for finding in exact.polytope_findings(drawn, inclusion))

    assert any(outside(seed) for seed in range(20))


def test_every_ranking_gives_a_vertex_of_the_base_polytope():
    drawn = exact.draw_ranked(np.random.default_rng(3), most=5)._replace(losses=vector(1, 2, 3, 4, 5))
    drawn = drawn._replace(weights=vector(3, 1, 4, 1, 5), num_selected=2, num_candidates=3)
    findings = exact.polytope_findings(drawn, frequencies(power_of_choice(*drawn), 5))
    # The sets of the n largest losses attain their bound: a greedy vertex.
    tight = {finding.instance["subset"] for finding in findings[:-1] if finding.measured == finding.predicted}
    assert {(4,), (3, 4), (2, 3, 4), (1, 2, 3, 4)} <= tight


MOMENTS = {
    "alpha": lambda m: m._replace(alpha=m.alpha + 1e-6),
    "delta": lambda m: m._replace(delta=1.000001 * m.delta),
    "noise": lambda m: m._replace(noise=1.000001 * m.noise),
    "mean": lambda m: m._replace(mean=m.mean * np.linspace(1, 1.000001, len(m.mean))),
}


@pytest.mark.parametrize("name", MOMENTS)
def test_moments_that_are_wrong_in_the_sixth_digit_are_caught(name, monkeypatch):
    class Wrong:
        def __init__(self, strategy):
            self.strategy = strategy

        def law(self, weights) -> Moments:
            return MOMENTS[name](self.strategy.law(weights))

    honest = exact._schemes
    monkeypatch.setattr(
        exact, "_schemes", lambda p, m: [scheme._replace(strategy=Wrong(scheme.strategy)) for scheme in honest(p, m)]
    )
    assert refuted(exact.gap_by_moments)


def test_the_minimizer_of_the_objective_is_not_where_pow_d_settles(monkeypatch):
    monkeypatch.setattr(
        exact, "error_floor", lambda fed, strategy: error_floor(fed, strategy)._replace(minimizer=fed.minimizer)
    )
    assert refuted(exact.floor_certificate)


def test_the_bias_without_the_skew_at_the_minimizer_is_too_small(monkeypatch):
    honest = selection_skew

    def smaller(*given, **options):
        skew = honest(*given, **options)
        guess = 1 + 0.3 * (skew.rho_tilde.upper - 1)
        return skew._replace(rho_tilde=Interval(guess, guess, "a guess", "a guess"))

    monkeypatch.setattr(exact, "selection_skew", smaller)
    assert refuted(exact.small_step_bias, num_instances=100)


@pytest.mark.slow
def test_the_floor_of_another_number_of_candidates_is_not_the_error_of_a_long_run():
    fed = power_of_choice_quadratics(num_clients=30, dim=5, rng=0)
    wrong = {9: error_floor(fed, PowerOfChoice(3, 10))}
    assert [finding.holds for finding in exact.long_run_findings(wrong)] == [False]


@pytest.mark.slow
def test_the_mean_field_of_another_number_of_candidates_is_not_the_error_of_a_run(monkeypatch):
    def with_fewer(fed, strategy, **known):
        return mean_field_gap(fed, replace(strategy, num_candidates=strategy.num_candidates - 1), **known)

    monkeypatch.setattr(exact, "mean_field_gap", with_fewer)
    assert broken(exact.mean_field, rng=0)


def test_the_claims_about_exact_quadratics_all_hold_by_theory():
    expected = {claim.expected for key, claim in known_claims().items() if key.startswith("exact-quadratics:")}
    assert expected == {"holds"}


@pytest.mark.parametrize(
    "less",
    [
        pytest.param(lambda start2, eta, mu, tau, G2: eta**2 * tau * (tau - 1) * G2, id="steps in a round"),
        pytest.param(lambda start2, eta, mu, tau, G2: eta**2 * tau**2 * G2 / 50, id="gradients"),
        pytest.param(lambda start2, eta, mu, tau, G2: 2 * eta * mu * tau * start2, id="contraction"),
    ],
)
def test_the_settling_inequality_is_refuted_with_less(monkeypatch, less):
    honest = settling.round_bound

    def mutant(start2, *, step_size, local_steps, fed, G2):
        value = honest(start2, step_size=step_size, local_steps=local_steps, fed=fed, G2=G2)
        return value - less(start2, step_size, fed.strong_convexity, local_steps, G2)

    monkeypatch.setattr(settling, "round_bound", mutant)
    assert refuted(settling.one_round_settles, num_instances=400)


def test_a_model_that_selects_the_smaller_loss_does_not_settle(monkeypatch):
    def smaller(weights, losses, m, d):
        return power_of_choice(weights, [-loss for loss in losses], m, d)

    monkeypatch.setattr(settling, "power_of_choice", smaller)
    assert refuted(settling.one_round_settles)
