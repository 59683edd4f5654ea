"""The claims about selection skews and exact quadratics refute wrong laws, orders and floors."""

# mypy: allow-untyped-defs, allow-untyped-calls

from dataclasses import replace

import pytest

from fedtheory.claims import exact_quadratics as exact
from fedtheory.claims.power_of_choice import skews
from fedtheory.sampling.cohorts import power_of_choice
from tests.claims.refutation import refuted


def test_the_diagonal_skew_can_fall_when_the_minima_differ():
    # A client with a large minimum ranks first even where it is optimal.
    mutant = replace(skews.diagonal_grows, check=lambda rng: skews.diagonal_growth(rng, equal_minima=False))
    assert refuted(mutant)


def test_the_smallest_losses_among_the_candidates_would_make_the_diagonal_skew_fall(monkeypatch):
    def upside_down(weights, losses, m, d):
        return power_of_choice(weights, [-loss for loss in losses], m, d)

    monkeypatch.setattr(skews, "power_of_choice", upside_down)
    assert refuted(skews.diagonal_grows)


@pytest.mark.parametrize(
    "less",
    [
        pytest.param(lambda start2, eta, mu, tau, G2: eta**2 * tau * (tau - 1) * G2, id="steps in a round"),
        pytest.param(lambda start2, eta, mu, tau, G2: eta**2 * tau**2 * G2 / 50, id="gradients"),
        pytest.param(lambda start2, eta, mu, tau, G2: 2 * eta * mu * tau * start2, id="contraction"),
    ],
)
def test_the_settling_inequality_is_refuted_with_less(monkeypatch, less):
    honest = exact.round_bound

    def mutant(start2, *, step_size, local_steps, fed, G2):
        value = honest(start2, step_size=step_size, local_steps=local_steps, fed=fed, G2=G2)
        return value - less(start2, step_size, fed.strong_convexity, local_steps, G2)

    monkeypatch.setattr(exact, "round_bound", mutant)
    assert refuted(exact.one_round_settles, num_instances=400)


def test_a_model_that_selects_the_smaller_loss_does_not_settle(monkeypatch):
    def smaller(weights, losses, m, d):
        return power_of_choice(weights, [-loss for loss in losses], m, d)

    monkeypatch.setattr(exact, "power_of_choice", smaller)
    assert refuted(exact.one_round_settles)
