"""Multipliers in closed form prove the bounds to which they belong, and wrong multipliers prove nothing."""

from collections.abc import Callable
from fractions import Fraction as Q
from typing import Any

import pytest

from fedtheory.bounds import fedavg as li
from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims import _closed_forms as closed_forms
from fedtheory.claims._closed_forms import (
    prove_gap_after_step,
    prove_one_round,
    prove_sampled_step,
    prove_skewed_round,
)
from fedtheory.errors import OracleError
from fedtheory.worst_case._arguments import constants
from fedtheory.worst_case.error_floors import fixed_round
from fedtheory.worst_case.federated_averaging import fedavg

CLASS: dict[str, Any] = {"mu": Q(1, 10), "L": Q(1), "distance2": Q(1), "objective_gap": Q(1, 2)}
ETA = Q(1, 4)
SKEWS: dict[str, Any] = {"rho_diagonal": Q(6, 5), "rho_tilde": Q(2)}


def round_of_two() -> Q:
    return prove_one_round(2, ETA, **CLASS)


def step_of_one() -> Q:
    return prove_sampled_step(9, 1, ETA, **CLASS)


def smaller(bound: Any, summand: str) -> Callable[..., Q]:
    """The bound without a thousandth of a summand."""

    def found(**given: Any) -> Q:
        terms = bound.terms(**given)
        return Q(sum(terms.values())) - Q(terms[summand]) / 1000

    return found


def test_smaller_coefficients_are_not_proved_by_the_multipliers_of_larger_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    # Those of two steps, of one sampled step and of the loss after a step are the best that these multipliers prove.
    for name, summand, prove in (
        ("one_round", "drift", round_of_two),
        ("one_round", "contraction", round_of_two),
        ("sampled_step", "sampling", step_of_one),
        ("sampled_step", "contraction", step_of_one),
    ):
        assert prove() > 0
        with monkeypatch.context() as patched:
            patched.setattr(li, name, smaller(getattr(li, name), summand))
            with pytest.raises(OracleError, match="positive semidefinite"):
                prove()


def test_the_loss_after_a_step_has_no_smaller_coefficient(monkeypatch: pytest.MonkeyPatch) -> None:
    assert prove_gap_after_step(ETA, **CLASS) == li.gap_after_step(Q(1), step_size=ETA, mu=Q(1, 10), L=Q(1))
    whole: Any = li.gap_after_step
    monkeypatch.setattr(li, "gap_after_step", lambda *given, **known: whole(*given, **known) * 999 / 1000)
    with pytest.raises(OracleError, match="positive semidefinite"):
        prove_gap_after_step(ETA, **CLASS)


def test_lemma_w_needs_lemma_f(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = [ETA, Q(1, 2), Q(1)]
    assert prove_skewed_round(sizes, **CLASS, **SKEWS) > 0
    down = closed_forms._down_the_path

    def without(given: Any) -> Any:
        charged, pairs = down(given)
        return charged, {pair: c for pair, c in pairs.items() if pair != (3, 2)}

    monkeypatch.setattr(closed_forms, "_down_the_path", without)
    with pytest.raises(OracleError):
        prove_skewed_round(sizes, **CLASS, **SKEWS)


@pytest.mark.parametrize(("local_steps", "least"), [(2, 0.99), (3, 0.84), (5, 0.7)])
def test_what_a_round_of_all_clients_costs_is_nearly_the_least_there_is(local_steps: int, least: float) -> None:
    given = CLASS | {"objective_gap": Q(1, 1000)}
    worst = fedavg(local_steps, ETA, **given)
    drift = li.one_round.terms(step_size=ETA, local_steps=local_steps, **given)["drift"]
    kept = (1 - ETA * CLASS["mu"]) ** (2 * local_steps)
    assert least <= float((worst.enclosure[0] - kept) / drift) <= 1


def test_short_steps_have_a_floor_of_the_order_of_their_square() -> None:
    floors = []
    for eta in (Q(1, 100), Q(1, 200)):
        known: dict[str, Any] = {
            "mu": Q(1, 10),
            "L": Q(1),
            "objective_gap": Q(1, 2),
            "step_size": eta,
            "local_steps": 2,
        }
        floors.append(float(li.fixed_step_distance(10**6, initial_distance2=0.0, **known)))
    assert floors[0] / floors[1] == pytest.approx(4, rel=0.02)
    # 9.136e-5 is the exact floor at 1/100.
    assert 9.136e-5 <= floors[0] <= 1.25 * 9.136e-5


def test_the_mean_gradients_of_a_closed_path_cancel_in_proportion_to_the_steps() -> None:
    steps = (Q(1, 2), Q(1, 3), Q(1, 5))
    p = fixed_round(constants(3, steps, mu=Q(1, 10), L=1, objective_gap=Q(1, 2)), "distance")
    [clients] = p.record.declared
    means = [call.gradient.within((0,)) for call in clients.calls[-3:]]
    moved = p.origin
    for eta, mean in zip(steps, means, strict=True):
        moved = moved + eta * mean
    assert moved.coordinates == {}
    assert any(mean.coordinates for mean in means)


@pytest.mark.parametrize("sizes", [[ETA], [ETA, Q(1)], [Q(1, 3), Q(1, 2), ETA]])
@pytest.mark.parametrize("gap", [Q(0), Q(1, 2)])
@pytest.mark.parametrize(("rho", "tilde"), [(Q(0), Q(0)), (Q(0), Q(2)), (Q(6, 5), Q(2))])
def test_clients_whose_minimizer_is_that_of_all_are_proved_as_others_are(
    sizes: list[Q], gap: Q, rho: Q, tilde: Q
) -> None:
    given = CLASS | {"objective_gap": gap}
    skews = {"rho_diagonal": rho, "rho_tilde": tilde}
    by = poc.round_coefficients(sizes, mu=Q(1, 10), L=Q(1), num_selected=1, **skews)
    assert prove_skewed_round(sizes, **given, **skews) == by.distance2 + by.objective_gap * gap


def test_identical_clients_are_proved_as_others_are() -> None:
    given, known = CLASS | {"objective_gap": Q(0)}, {"step_size": ETA, "mu": Q(1, 10), "L": Q(1), "objective_gap": Q(0)}
    assert prove_one_round(3, ETA, **given) == li.one_round(Q(1), local_steps=3, **known)
    assert prove_sampled_step(9, 2, ETA, **given) == li.sampled_step(Q(1), num_clients=9, num_selected=2, **known)
    assert prove_gap_after_step(ETA, **given) == li.gap_after_step(Q(1), step_size=ETA, mu=Q(1, 10), L=Q(1))
