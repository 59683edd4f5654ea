"""Bounds on rounds of all clients are close to the worst cases."""

from fractions import Fraction as Q
from typing import Any

import pytest

from fedtheory.bounds import fedavg as li
from fedtheory.worst_case.arguments import constants
from fedtheory.worst_case.error_floors import fixed_round
from fedtheory.worst_case.federated_averaging import fedavg

CLASS: dict[str, Any] = {"mu": Q(1, 10), "L": Q(1), "distance2": Q(1), "objective_gap": Q(1, 2)}
ETA = Q(1, 4)


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
