"""Wrong statements about Shapley values are caught, and so are the defects of public code."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fedtheory.claims.greedyfed import estimates, values
from fedtheory.claims.greedyfed._games import draw_game
from fedtheory.valuation.axioms import efficiency
from fedtheory.valuation.exact import shapley
from fedtheory.verification.catalogue import known_claims
from fedtheory.verification.findings import at_most, equal_to
from tests.claims.refutation import refuted

CLAIMS = {key: claim for key, claim in known_claims().items() if key.startswith("greedyfed:")}
GLOVES = [Fraction(int(number & 1 and number > 1)) for number in range(8)]


def test_the_empty_coalition_is_not_the_zero_model() -> None:
    """A public implementation averages nobody to the model of zeros: what is handed out is not what was earned."""

    def check(rng: Any) -> Any:
        game = draw_game(rng)
        zeros = game._replace(before=tuple(Fraction(0) for _ in game.before))
        n = len(game.models)
        drop = game.loss(game.before) - game.loss(game.mean(range(n)))
        return equal_to(sum(shapley(zeros.utility, n)), drop)

    assert refuted(values.efficiency, check)


def test_sizes_of_coalitions_must_go_up_to_all_others() -> None:
    """A public estimator draws the size of the coalition before a player from 0..n - 2, never n - 1."""
    n, rng = 5, np.random.default_rng(0)
    table = rng.normal(size=2**n)
    sizes = np.array([number.bit_count() for number in range(2**n)])
    wrong = []
    for k in range(n):
        without = np.array([number for number in range(2**n) if not number >> k & 1])
        gains = table[without | 1 << k] - table[without]
        wrong.append(np.mean([gains[sizes[without] == size].mean() for size in range(n - 1)]))
    assert abs(efficiency(table, wrong)) > 0.1
    assert abs(efficiency(table, shapley(table, n))) < 1e-13


def test_weights_of_coalitions_matter() -> None:
    def check(rng: Any) -> Any:
        game = draw_game(rng)
        n = len(game.models)
        plain = [
            sum(
                game.utility(frozenset(others) | {k}) - game.utility(frozenset(others))
                for others in (
                    [j for j in range(n) if number >> j & 1] for number in range(2**n) if not number >> k & 1
                )
            )
            / 2 ** (n - 1)
            for k in range(n)
        ]  # Banzhaf's values
        return equal_to(sum(plain), game.utility(frozenset(range(n))) - game.utility(frozenset()))

    assert refuted(values.efficiency, check)


def test_truncation_is_not_unbiased() -> None:
    def check(rng: Any) -> Any:
        table = [Fraction(int(rng.integers(-32, 33)), 8) for _ in range(8)]
        gains = [
            estimates.gains(table, order, Fraction(1))
            for first in range(3)
            for order in estimates.orders_from(first, 3)
        ]
        return equal_to(sum(one[0] for one in gains) / 6, shapley(table, 3)[0])

    assert refuted(estimates.unbiased_sweeps, check)


def test_a_sweep_is_no_better_than_its_strata_allow() -> None:
    def check(rng: Any) -> Any:
        finding = estimates.first_position_variance.check(rng)
        return at_most(finding.measured, finding.predicted / 2)

    assert refuted(estimates.first_position_variance, check)


@pytest.mark.parametrize(
    ("key", "measured", "predicted"),
    [
        ("unchanged-client", Fraction(-1, 16), 0),
        ("vanishing-values", Fraction(1), Fraction(0)),
        ("truncated-values", Fraction(1, 3), Fraction(1, 100)),
        ("printed-counter", Fraction(1), Fraction(2, 3)),
        ("printed-turns", 3, 4),
    ],
)
def test_errata_fail_on_the_instances_of_the_theory_page(key: str, measured: Any, predicted: Any) -> None:
    finding = CLAIMS[f"greedyfed:{key}"].check(np.random.default_rng(0))
    assert finding.holds is False
    if key in ("truncated-values", "printed-counter"):  # the worst of three clients
        assert finding.predicted in (predicted, *shapley(GLOVES, 3))
    else:
        assert (finding.measured, finding.predicted) == (measured, predicted)


def test_values_of_the_truncated_game_are_those_of_the_theory_page() -> None:
    worth = (1, 1, -1)
    table = [sum((Fraction(worth[k]) for k in range(3) if number >> k & 1), Fraction(0)) for number in range(8)]
    walks = [
        estimates.gains(table, order, Fraction(1, 100))
        for first in range(3)
        for order in estimates.orders_from(first, 3)
    ]
    assert [sum(walk[k] for walk in walks) / 6 for k in range(3)] == [Fraction(2, 3), Fraction(2, 3), Fraction(-1, 3)]
