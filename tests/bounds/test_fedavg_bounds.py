"""Li et al. as the unbiased case of Power-of-Choice."""

# mypy: allow-untyped-calls

from fractions import Fraction as Q
from typing import Any

import pytest

from fedtheory.bounds import fedavg
from fedtheory.bounds import power_of_choice as poc
from fedtheory.paper import Scheme

WORLD: dict[str, Any] = {
    "mu": Q(1, 2),
    "L": Q(3),
    "local_steps": 4,
    "num_selected": 2,
    "G2": Q(17),
    "sigma2": Q(5),
    "objective_gap": Q(2),
    "initial_distance2": Q(11),
}


@pytest.mark.parametrize("num_steps", [0, 1, 50, 10**6])
def test_it_is_power_of_choice_at_unit_skews(num_steps):
    unbiased = poc.decaying_steps_gap.printed.terms(num_steps, rho_bar=Q(1), rho_tilde=Q(1), **WORLD)
    assert unbiased.pop("bias") == 0
    assert fedavg.decaying_steps_gap.terms(num_steps, **WORLD) == unbiased


def test_the_repaired_theorem_at_unit_skews_is_at_most_it():
    for num_steps in (0, 10, 1000):
        repaired = poc.decaying_steps_gap(num_steps, rho_diagonal=Q(1), rho_tilde=Q(1), **WORLD)
        assert repaired <= fedavg.decaying_steps_gap(num_steps, **WORLD)


def test_it_vanishes_like_one_over_t():
    near, far = (fedavg.decaying_steps_gap(T, **WORLD) for T in (0, 24 * 9))
    # gamma = 24: T + gamma is 24 and 240.
    assert near == 10 * far


def test_it_speaks_about_unbiased_selection_only():
    assert fedavg.decaying_steps_gap.statement.accepts(Scheme("multinomial", "mean"))
    assert not fedavg.decaying_steps_gap.statement.accepts(Scheme("power of choice", "mean"))


def test_the_summands_are_named_in_symbols_too():
    assert {symbol.name for symbol in fedavg.decaying_steps_gap.symbolic().free_symbols} == {*WORLD, "num_steps"}
