"""What a strategy, federation or bound of a user lacks is reported, and runs and bounds keep what they are."""

import pickle
from dataclasses import dataclass
from fractions import Fraction as Q

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.bounds import power_of_choice as poc
from fedtheory.engine.families import layout
from fedtheory.exact.runs import for_run
from fedtheory.theorem.bound import states
from fedtheory.theorem.paper import Paper

PARABOLAS = ft.QuadraticFederation([1.0, 1.0], [[1.0], [-1.0]], [0.5, 0.5])


@dataclass(frozen=True)
class Own:
    """A strategy that the library does not have, though it does what one of its own does."""

    num_selected: int
    scheme = ft.selection.Proportional.scheme

    def law(self, weights):
        return ft.selection.Proportional(self.num_selected).law(weights)

    def rules(self, weights, num_rounds):
        return ft.selection.Proportional(self.num_selected).rules(weights, num_rounds)


def test_a_bound_is_the_same_after_pickling_and_one_of_a_function_keeps_what_it_is() -> None:
    import cloudpickle

    @states(Paper("own", "A paper", "Somebody", 2026), "Theorem 1")
    def gap(num_steps, *, mu):
        """Bound on something."""
        return {"all": num_steps * mu}

    assert pickle.loads(pickle.dumps(poc.fixed_step_gap)) is poc.fixed_step_gap
    again = cloudpickle.loads(cloudpickle.dumps(gap))
    assert again(3, mu=2.0) == 6.0
    assert again.statement == gap.statement


@pytest.mark.parametrize("strategy", [ft.selection.Proportional(2), ft.selection.PowerOfChoice(2, 4)])
def test_the_constants_of_a_run_are_those_of_its_settings(strategy) -> None:
    fed = ft.datasets.power_of_choice_quadratics(num_clients=6, rng=0)
    settings = {"num_rounds": 5, "local_steps": 2, "step_size": 1e-3}
    wanted = for_run(poc.fixed_step_gap, fed, strategy, **settings)
    assert for_run(poc.fixed_step_gap, ft.fedavg(fed, strategy, num_replicates=3, **settings)) == wanted


def test_a_run_has_the_strategy_of_one_s_own_that_it_was_called_with() -> None:
    fed = ft.datasets.power_of_choice_quadratics(num_clients=6, rng=0)
    run = ft.fedavg(fed, Own(2), num_rounds=5, step_size=1e-3)
    given = for_run(poc.fixed_step_gap, run)
    assert given == for_run(poc.fixed_step_gap, run, Own(2))
    assert given == for_run(poc.fixed_step_gap, fed, Own(2), num_rounds=5, step_size=1e-3)


class Bare:
    """A federation that has what the loop needs, and no minimum."""

    num_clients, dim, weights = 2, 1, np.array([0.5, 0.5])

    def __repr__(self) -> str:
        return "Bare()"


@ft.engine.layout.register
def _(fed: Bare, work: ft.engine.LocalWork):
    return layout(PARABOLAS, work)


def test_a_family_without_a_minimum_is_told_to_record_the_loss() -> None:
    settings = {"num_rounds": 2, "step_size": 0.1}
    with pytest.raises(TypeError, match=r"fed must have a minimum.*got Bare\(\).*record=\('loss',\)"):
        ft.fedavg(Bare(), ft.selection.Full(), **settings)
    run = ft.fedavg(Bare(), ft.selection.Full(), record=("loss",), **settings)
    assert (run.loss == ft.fedavg(PARABOLAS, ft.selection.Full(), record=("loss",), **settings).loss).all()


def test_the_data_of_an_instance_have_the_functions_of_all_clients() -> None:
    worst = ft.worst_case.fedavg(1, Q(1, 4), mu=Q(1, 10), L=1, distance2=1, objective_gap=Q(1, 2))
    functions = worst.instance().as_data()["functions"]
    assert sum(map(len, functions.values())) == len(worst.instance().clients)
