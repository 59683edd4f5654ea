"""The theorems of Li et al., in their own form and as the unbiased case of Power-of-Choice."""

# mypy: allow-untyped-calls

import inspect
from fractions import Fraction as Q
from typing import Any

import numpy as np

from fedtheory.bounds import fedalign, fedavg
from fedtheory.bounds.recursion import unrolled_gap
from fedtheory.theorem.scheme import Scheme

OWN_WORLD: dict[str, Any] = {
    "mu": Q(1, 2), "L": Q(3), "local_steps": 4, "num_clients": 9, "num_selected": 2, "G2": Q(17),
    "weighted_sigma2": Q(5), "objective_gap": Q(2), "initial_distance2": Q(11),
}  # fmt: skip


def own(bound, **changes):
    world = OWN_WORLD | changes
    return {name: world[name] for name in inspect.signature(bound).parameters if name in world}


def test_fedalign_without_other_clients_is_theorem_1():
    known = {name: value for name, value in own(fedavg.full_participation_gap).items() if name != "weighted_sigma2"}
    aligned = fedalign.full_participation_gap(7, theta=Q(1), rho=Q(0), sigma2=Q(5), **known)
    assert aligned == fedavg.full_participation_gap(7, weighted_sigma2=Q(5), **known)
    draws = fedalign.partial_participation_gap(7, theta=Q(1), rho=Q(0), sigma2=Q(5), num_draws=2, **known)
    assert draws == fedavg.with_replacement_gap(7, weighted_sigma2=Q(5), num_selected=2, **known)


def test_all_clients_without_replacement_is_full_participation():
    everybody = fedavg.without_replacement_gap(7, **own(fedavg.without_replacement_gap, num_selected=9))
    assert everybody == fedavg.full_participation_gap(7, **own(fedavg.full_participation_gap))


def test_the_induction_of_the_theorems_is_the_recursion_of_their_lemma():
    sizes = fedavg.decaying_step_sizes(60, mu=0.5, L=3.0, local_steps=4)
    known = {n: float(v) if isinstance(v, Q) else v for n, v in own(fedavg.one_step).items()}
    gaps = unrolled_gap(fedavg.one_step, initial_distance2=11.0, step_sizes=sizes, **known)
    closed = fedavg.full_participation_gap(np.arange(61), initial_distance2=11.0, **known)
    assert np.all(gaps <= closed)


def test_it_speaks_about_unbiased_selection_only():
    assert fedavg.decaying_steps_gap.statement.accepts(Scheme("multinomial", "mean"))
    assert not fedavg.decaying_steps_gap.statement.accepts(Scheme("power of choice", "mean"))
