"""No federation contradicts a proof, and no class with a federation is proved to be empty."""

from collections.abc import Iterator
from fractions import Fraction as Q
from typing import Any, NamedTuple

import numpy as np
import pytest

from fedtheory.errors import OracleError
from fedtheory.worst_case import WorstCase, fedalign, fedavg, power_of_choice
from tests.environment import thinned
from tests.worst_case.members import Client, member


class Case(NamedTuple):
    """A federation, the call about the class that just holds it, and the error that it has."""

    name: str
    call: Any
    reached: Q


def averaged(rng: np.random.Generator) -> Case:
    fed, tau = member(rng, 3, 3), int(rng.integers(1, 4))
    eta = Q(f"{10 ** rng.uniform(-6, 0.3):.3g}")
    after = sum((fed.trained(k, tau, eta) for k in range(3)), start=Q(0)) / 3
    home = fed.minimizer
    objective, reached = (
        ("distance", (after - home) ** 2) if rng.random() < 0.7 else ("gap", fed.objective(after) - fed.objective(home))
    )
    return Case("fedavg", lambda: fedavg(tau, eta, **fed.constants(), objective=objective), reached)


def aligned(rng: np.random.Generator) -> Case:
    fed, tau = member(rng, 3, 2), int(rng.integers(1, 3))
    eta, share = Q(f"{10 ** rng.uniform(-6, 0.3):.3g}"), Q(int(rng.integers(1, 5)), 4)
    home, weights = fed.minimizer, [Q(1, 2), Q(1, 2), share]
    after = sum((p * fed.trained(k, tau, eta) for k, p in enumerate(weights)), start=Q(0)) / sum(weights)
    more = {"client_gap": fed.clients[2].loss(home), "share": share}
    return Case("fedalign", lambda: fedalign(tau, eta, **fed.constants(), **more), (after - home) ** 2)


def selected(rng: np.random.Generator) -> Case:
    """The worse of two clients out of two, or out of three."""
    num = int(rng.integers(2, 4))
    fed, tau = member(rng, num, num), int(rng.integers(1, 3))
    eta = Q(f"{10 ** rng.uniform(-6, 0.3):.3g}")
    worst = max(range(num), key=lambda k: fed.clients[k].loss(fed.start))
    reached = (fed.trained(worst, tau, eta) - fed.minimizer) ** 2
    return Case("pow-d", lambda: power_of_choice(num, num, 1, tau, eta, **fed.constants()), reached)


def cases(number: int, seed: int) -> Iterator[Case]:
    rng = np.random.default_rng(seed)
    for _ in range(number):
        yield (averaged, aligned, selected)[int(rng.integers(3))](rng)


def examine(number: int, seed: int) -> tuple[int, int, int]:
    """Return how many classes there were, how many are enclosed to 1e-5, and how many have no proof of a side."""
    narrow = silent = 0
    for case in cases(number, seed):
        try:
            worst: WorstCase = case.call()
        except OracleError:
            silent += 1
            continue
        assert worst.enclosure[1] >= case.reached, case.name
        narrow += worst.relative_width <= 1e-5
    return number, narrow, silent


def test_classes_made_from_a_member_are_not_empty_hold_it_and_are_enclosed() -> None:
    number, narrow, silent = examine(4, seed=7)
    assert silent == 0
    assert narrow >= 0.95 * number


@pytest.mark.slow
@pytest.mark.parametrize("number", thinned([20, 80, 200], 3))
def test_many_classes_made_from_a_member_are_not_empty_hold_it_and_are_enclosed(number: int) -> None:
    _, narrow, silent = examine(number, seed=0)
    assert narrow >= 0.95 * number, (narrow, silent)


def test_a_client_is_the_integral_of_its_gradient() -> None:
    client = Client(Q(2), Q(3), Q(1, 2), Q(1, 3))
    for a, b in ((Q(0), Q(1)), (Q(2), Q(2) + Q(1, 3)), (Q(7, 3), Q(9))):
        # On one side of all kinks the gradient is linear: its mean is that of the ends.
        assert client.loss(b) - client.loss(a) == (client.gradient(a) + client.gradient(b)) / 2 * (b - a)


CLASS: dict[str, Any] = {"mu": Q(1, 10), "L": 1, "distance2": 1, "objective_gap": Q(1, 2)}


IDENTICAL: dict[str, Any] = {
    "short steps": lambda: fedavg(3, Q(1, 10**4), **CLASS),
    "a small gap": lambda: fedavg(3, Q(1, 4), **CLASS | {"objective_gap": Q(1, 10**8)}),
    "a large gap": lambda: fedavg(3, Q(1, 4), **CLASS | {"objective_gap": 10**8}),
    "little noise": lambda: fedavg(2, Q(1, 4), **CLASS, gradient_noise=Q(1, 10**9), num_clients=3),
    "long steps": lambda: fedavg(2, 1000, **CLASS),
    "curvatures that hardly differ": lambda: fedavg(2, Q(1, 4), **CLASS | {"mu": 1 - Q(1, 10**9)}),
}


@pytest.mark.parametrize("name", IDENTICAL)
def test_classes_that_hold_identical_parabolas_are_enclosed_to_a_hundred_thousandth(name: str) -> None:
    worst = IDENTICAL[name]()
    assert worst.verify() == worst.enclosure
    assert worst.relative_width < 1e-5
