"""A function ``(rng, weights, losses) -> clients`` is a strategy."""

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.conformance import check_strategy
from fedtheory.selection import Available, BernoulliAvailability, PowerOfChoice, Proportional, SizeWeighted
from fedtheory.selection._draw import alias_table, client_at

FED = ft.QuadraticFederation(np.ones(5), np.arange(5.0)[:, None], [0.1, 0.3, 0.2, 0.25, 0.15])


def by_weight(rng, weights, losses):
    return [int(client_at(alias_table(weights), rng.random())) for _ in range(3)]


def largest(rng, weights, losses):
    return np.argsort(-losses)[:2]


def run(strategy):
    return ft.fedavg(FED, strategy, num_rounds=20, step_size=0.3, rng=4, initial=[9.0], record=("models", "selected"))


@pytest.mark.parametrize(
    ("function", "compiled"),
    [
        (by_weight, Proportional(3)),
        (largest, PowerOfChoice(2, "all")),
        (
            Available(largest, BernoulliAvailability(0.6), "allow"),
            Available(PowerOfChoice(2, "all"), BernoulliAvailability(0.6), "allow"),
        ),
    ],
)
def test_a_function_selects_the_clients_of_a_compiled_rule_with_the_same_draws(function, compiled) -> None:
    one, other = run(function), run(compiled)
    np.testing.assert_array_equal(one.counts, other.counts)
    np.testing.assert_allclose(one.models, other.models, rtol=1e-12)


def test_a_function_that_passes_the_kit_trains_and_is_named_in_the_configuration() -> None:
    assert check_strategy(largest, like=PowerOfChoice(2, "all"), num_draws=2).holds
    assert run(largest).config["strategy"] == "largest"
    assert run(SizeWeighted(largest)).counts.sum() == 2 * 20


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        ([0.0], TypeError, "float64"),
        (1, TypeError, "int"),
        ([5], ValueError, r"0\.\.4"),
        ([-1], ValueError, r"0\.\.4"),
        ([0] * 6, ValueError, "at most 5"),
    ],
)
def test_an_answer_that_is_no_list_of_clients_is_refused(answer, error, said) -> None:
    with pytest.raises(error, match=rf"select of .*lambda.*{said}"):
        run(lambda rng, weights, losses: answer)


def test_arguments_that_a_function_keeps_or_overwrites_are_its_own() -> None:
    kept = []

    def spoils(rng, weights, losses):
        kept.append(losses)
        chosen = largest(rng, weights, losses)
        weights[:] = 0.0
        return chosen

    np.testing.assert_array_equal(run(spoils).models, run(largest).models)
    assert len({losses.tobytes() for losses in kept}) == len(kept)
