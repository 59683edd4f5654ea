"""The worst case of a larger class is not smaller, and does not depend on the units."""

from collections.abc import Callable, Iterator
from fractions import Fraction as Q
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest

from fedtheory.errors import OracleError
from fedtheory.worst_case import WorstCase, fedalign, fedavg, power_of_choice, skew_class


class Chain(NamedTuple):
    """A call, its constants, and that of them which grows."""

    call: Callable[..., WorstCase]
    constants: dict[str, Q]
    grows: str


def number(rng: np.random.Generator, low: float, high: float) -> Q:
    return Q(f"{10 ** rng.uniform(low, high):.3g}")


def chain(rng: np.random.Generator) -> Chain:
    """Draw a door, constants between 1e-16 and 1e4, and steps and curvatures over six powers of ten."""
    tau, eta = int(rng.integers(1, 4)), number(rng, -6, 0.3)
    mu = Q(1, 10) if rng.random() < 0.7 else min(number(rng, -6, 0), Q(999, 1000))
    constants = {name: number(rng, -16, 4) for name in ("distance2", "objective_gap", "client_gap", "noise")}
    fixed: dict[str, Any] = {"mu": mu, "L": 1}

    def rounds(distance2: Q, objective_gap: Q, noise: Q) -> WorstCase:
        return fedavg(
            tau, eta, **fixed, distance2=distance2, objective_gap=objective_gap, gradient_noise=noise, num_clients=3
        )

    def aligned(distance2: Q, objective_gap: Q, client_gap: Q) -> WorstCase:
        return fedalign(tau, eta, **fixed, distance2=distance2, objective_gap=objective_gap, client_gap=client_gap)

    def chosen(distance2: Q, objective_gap: Q) -> WorstCase:
        return power_of_choice(3, 2, 1, tau, eta, **fixed, distance2=distance2, objective_gap=objective_gap)

    rho = min(number(rng, -3, 1), 1 / mu)
    skews = {"rho_diagonal": rho, "rho_tilde": rho * (1 + number(rng, -6, 1))}

    def skewed(distance2: Q, noise: Q) -> WorstCase:
        gap = constants["objective_gap"]
        return skew_class(tau, eta, **fixed, **skews, distance2=distance2, objective_gap=gap, gradient_noise=noise)

    call, names = (
        (rounds, ("distance2", "objective_gap", "noise")),
        (aligned, ("distance2", "objective_gap", "client_gap")),
        (chosen, ("distance2", "objective_gap")),
        (skewed, ("distance2", "noise")),
    )[int(rng.integers(4))]
    return Chain(call, {name: constants[name] for name in names}, str(rng.choice(names)))


def enclosures(found: Chain, values: list[Q]) -> Iterator[tuple[Q, Q]]:
    for value in values:
        try:
            yield found.call(**found.constants | {found.grows: value}).enclosure
        except OracleError:
            continue


def examine(number_of_chains: int, length: int, seed: int) -> tuple[int, int]:
    """Return how many programs there were, and how many had proofs of both sides."""
    rng, enclosed = np.random.default_rng(seed), 0
    for _ in range(number_of_chains):
        found = chain(rng)
        values = sorted({number(rng, -16, 4) for _ in range(length)})
        ends = list(enclosures(found, values))
        enclosed += len(ends)
        for smaller, larger in pairwise(ends):
            assert smaller[0] <= larger[1], found
    return number_of_chains * length, enclosed


def test_worst_cases_do_not_fall_when_a_constant_grows() -> None:
    number_of_programs, enclosed = examine(4, 3, seed=3)
    assert number_of_programs == 12
    assert enclosed >= 0.98 * number_of_programs


@pytest.mark.slow
@pytest.mark.long  # together they take half an hour of processor
@pytest.mark.parametrize("seed", range(50))
def test_ten_thousand_worst_cases_do_not_fall_when_a_constant_grows(seed: int) -> None:
    number_of_programs, enclosed = examine(25, 8, seed)
    assert number_of_programs == 200
    assert enclosed >= 0.98 * number_of_programs


@pytest.mark.parametrize("seed", range(3))
def test_other_units_of_length_change_nothing_but_the_unit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found, unit = chain(rng), number(rng, -8, 8)
    lower, upper = found.call(**found.constants).enclosure
    if found.call.__name__ == "skewed":  # its gap is not among the constants
        return
    scaled = found.call(**{name: unit * value for name, value in found.constants.items()}).enclosure
    assert max(lower, scaled[0] / unit) <= min(upper, scaled[1] / unit)
