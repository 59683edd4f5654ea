"""Monte Carlo skews against the exact law, and on the documented side."""

# mypy: allow-untyped-calls, allow-untyped-defs

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from fedtheory.engine.simulation import fedavg
from fedtheory.exact.estimated_skews import estimated_selection_skew, sampled_models
from fedtheory.exact.first_rounds import first_rounds
from fedtheory.exact.skews import skew
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.selection.full import Full
from fedtheory.selection.independent import Independent
from fedtheory.selection.laws import Ranked
from fedtheory.selection.power_of_choice import PowerOfChoice
from fedtheory.selection.proportional import Proportional
from fedtheory.selection.rules import Rules
from fedtheory.selection.uniform import Uniform
from fedtheory.theorem.scheme import Scheme
from tests.engine.plain import in_plain_python


def federation(num_clients=6, dim=2, seed=0, minima=0.0):
    rng = np.random.default_rng(seed)
    return QuadraticFederation(
        rng.uniform(0.5, 3, num_clients),
        rng.normal(size=(num_clients, dim)),
        rng.dirichlet(np.ones(num_clients)),
        minima,
    )


FED = federation()


@pytest.mark.slow
@pytest.mark.parametrize(
    "strategy",
    [
        PowerOfChoice(2, 4),
        PowerOfChoice(2, 6),
        PowerOfChoice(3, 3),
        Proportional(2),
        Uniform(2),
        Uniform(2, "weighted"),
        Full(),
    ],
    ids=str,
)
def test_the_estimate_is_within_its_error_of_the_exact_skew(strategy):
    rng = np.random.default_rng(1)
    for seed in range(4):
        models, law, best = rng.normal(size=(2, 2)), strategy.law(FED.weights), FED.minimizer
        laws = (law.frequencies(FED.losses(w)) if isinstance(law, Ranked) else law.mean for w in (best, *models))
        exact = max(skew(FED, one, best) for one in laws)
        found = estimated_selection_skew(FED, strategy, models, num_draws=3000, rng=seed).rho_tilde
        # 4.5 standard errors: one in 147,000 for each of 28 comparisons. The rest is rounding when nothing varies.
        assert abs(found.value - exact) <= 4.5 * found.standard_error + 1e-12


def test_the_standard_error_is_that_of_the_exact_law():
    # One client drawn with probability p: the variance of F_k(w')/D is sum_k p_k (F_k/D)^2 - 1.
    ratios = FED.losses(FED.minimizer) / (FED.losses(FED.minimizer) @ FED.weights)
    exact = np.sqrt((FED.weights @ ratios**2 - 1) / 4000)
    found = estimated_selection_skew(FED, Proportional(1), [[0.0, 0.0]], num_draws=4000)
    assert found.rho_tilde.standard_error == pytest.approx(exact, rel=0.1)


def test_the_same_seed_gives_the_same_estimate():
    first, again, other = (
        estimated_selection_skew(FED, PowerOfChoice(2, 4), [[0.3, 0.1]], num_draws=50, rng=seed) for seed in (3, 3, 4)
    )
    assert first == again
    assert first != other


@pytest.mark.parametrize(
    "strategy",
    [PowerOfChoice(2, 4), Proportional(2), Uniform(2, "weighted"), Full(), Independent(2.0, "uniform")],
    ids=repr,
)
def test_compiled_draws_are_those_of_one_round_after_the_other_in_plain_python(strategy):
    rules, losses = strategy.rules(FED.weights, 1), FED.losses([0.3, -0.2])
    drawn = []
    for each in (rules, in_plain_python(rules)):
        rng = np.random.default_rng(2)
        drawn.append((*first_rounds(each, FED.weights, losses, FED.dim, 40, rng), rng.random()))
    for compiled, plain in zip(*drawn, strict=True):
        np.testing.assert_array_equal(compiled, plain)


def test_a_run_stands_for_its_federation_strategy_and_recorded_models():
    run = fedavg(FED, PowerOfChoice(2, 4), num_rounds=3, step_size=0.1, num_replicates=2, record=("models",))
    models = np.unique(run.models.reshape(-1, 2), axis=0)
    assert len(models) == 7  # both replicates begin at the same model
    wanted = estimated_selection_skew(FED, PowerOfChoice(2, 4), models, num_draws=20, rng=1)
    assert estimated_selection_skew(of=run, num_draws=20, rng=1) == wanted
    other = estimated_selection_skew(of=run, strategy=Full(), num_draws=2)
    assert other == estimated_selection_skew(FED, Full(), models, num_draws=2)
    alone = estimated_selection_skew(of=run, models=models[:1], num_draws=20)
    assert alone == estimated_selection_skew(FED, PowerOfChoice(2, 4), models[:1], num_draws=20)


@pytest.mark.parametrize("unit", [2.0**-100, 2.0**100])
def test_the_unit_of_the_losses_does_not_matter_and_neither_do_shared_minima(unit):
    scaled = QuadraticFederation(unit * FED.curvatures, FED.centers, FED.weights, unit * 3.0)
    arguments = (PowerOfChoice(2, 6), sampled_models(FED, 3))
    plain, found = (estimated_selection_skew(fed, *arguments, num_draws=2) for fed in (FED, scaled))
    assert np.array(found)[:, 0].astype(float) == pytest.approx(np.array(plain)[:, 0].astype(float), rel=1e-9)
    # Clients with one minimizer, computed with a rounding that is large beside their losses near it.
    same = QuadraticFederation(unit * np.array([1.0, 2.0]), np.full((2, 1), 0.1), np.array([0.3, 0.7]), unit * 1e9)
    found = estimated_selection_skew(same, Proportional(1), [[0.1 + 1e-9]], num_draws=2)
    assert all(extreme.side.startswith("0/0") for extreme in found)


@pytest.mark.parametrize("curvatures", [[1.0, 1e-8], [1e-8, 1.0], [1.0, 1.0]])
def test_a_zero_is_told_from_a_small_number_by_what_rounding_leaves(curvatures):
    same = QuadraticFederation(curvatures, np.full((2, 1), 0.1), np.full(2, 0.5))
    for roundings in (0, 1, 4):
        near = [[0.1 * (1 + roundings * 2.0**-52)]]
        assert estimated_selection_skew(same, Proportional(1), near, num_draws=2).rho_bar.side.startswith("0/0")
    assert estimated_selection_skew(same, Proportional(1), [[0.1 * (1 + 1e-9)]], num_draws=2).rho_bar.value > 0


def test_extremes_are_estimates_from_one_side():
    opposite = QuadraticFederation(np.ones(2), np.array([[1.0], [-1.0]]), np.full(2, 0.5))
    # Worst of two: rho_bar = 0, rho_tilde = 1, rho_diagonal = 1 (the last at w = 0, approached from above).
    grid = np.linspace(-0.9, 0.9, 10)[:, None]
    found = estimated_selection_skew(opposite, PowerOfChoice(1, 2), grid, num_draws=20)
    # Nearest of the grid to w' = -1, with the client at -1 selected: (1/10)^2 / (1 + 0.9^2) = 1/181.
    assert found.rho_bar.value == pytest.approx(1 / 181, rel=1e-12)
    assert found.rho_tilde.value == pytest.approx(1, rel=1e-12)
    # At w* both clients tie and have skew one.
    assert found.rho_diagonal.value == pytest.approx(1, rel=1e-12)
    assert [extreme.side for extreme in found] == ["from above", "from below", "from above"]


@pytest.mark.parametrize("center", [[0.0, 0.0], [0.1, -7.3]])
def test_identical_clients_have_a_documented_zero_over_zero(center):
    same = QuadraticFederation(np.array([1.0, 2.0, 3.0]), np.tile(center, (3, 1)), np.array([0.2, 0.3, 0.5]))
    found = estimated_selection_skew(same, PowerOfChoice(1, 3), sampled_models(same, 3), num_draws=3)
    assert found.rho_tilde == (0.0, 0.0, "0/0: objective gap 0")
    # The stiffest client is selected everywhere but at w*, where all tie: 3 / (0.2 + 0.6 + 1.5) = 30/23.
    assert found.rho_diagonal.value == pytest.approx(30 / 23, rel=1e-12)
    assert not np.isnan(found.rho_bar.value)


def test_sampled_models_are_reproducible_and_of_the_asked_spread():
    models = sampled_models(FED, 2000, spread=3.0, rng=1)
    assert np.array_equal(models, sampled_models(FED, 2000, spread=3.0, rng=1))
    reach = np.linalg.norm(FED.local_minimizers - FED.minimizer, axis=1).max()
    # The standard deviation of 4000 normal numbers has relative error 1.1%.
    assert np.std(models - FED.minimizer) == pytest.approx(3 * reach, rel=0.06)


def _first_client(round_index, table, memory, weights, candidates, losses, rng, chosen):
    memory[0] += 1
    chosen[0] = int(memory[0]) - 1 + 2 * round_index
    return 1


def _own_weights(round_index, table, memory, weights, chosen, updates, rng, coefficients):
    coefficients[0] = np.linalg.norm(updates[0])
    return 0.0


@dataclass(frozen=True)
class Plain:
    """A rule in plain Python whose memory counts rounds, and which knows what round it is."""

    changes: tuple[tuple[str, Any], ...] = ()

    @property
    def scheme(self):
        return Scheme("first", "mean")

    def rules(self, weights, num_rounds):
        return replace(Rules(select=_first_client, max_selected=1, memory=np.zeros(1)), **dict(self.changes))


def test_a_plain_python_rule_starts_every_draw_with_fresh_memory():
    found = estimated_selection_skew(FED, Plain(), [[0.0, 0.0]], num_draws=5).rho_tilde
    first = FED.losses(FED.minimizer)
    assert found.value == pytest.approx(first[0] / (first @ FED.weights), rel=1e-12)
    assert found.standard_error == pytest.approx(0, abs=1e-15)


def _everybody(round_index, table, memory, rng, present):
    present[:] = True


@pytest.mark.parametrize(
    "changes", [(("candidate_loss", "minibatch"),), (("weigh", _own_weights),), (("attend", _everybody),)]
)
def test_strategies_that_the_definition_does_not_cover_are_refused(changes):
    with pytest.raises(ValueError, match="strategy must select by the exact losses of all clients"):
        estimated_selection_skew(FED, Plain(changes), [[0.0, 0.0]], num_draws=5)
