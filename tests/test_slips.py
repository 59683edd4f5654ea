"""Misspelled, missing and mistyped names are reported with similar names and a suggestion."""

import json
import pickle
from dataclasses import dataclass
from fractions import Fraction as Q
from pathlib import Path

import numpy as np
import pytest
from numba import njit

import fedtheory as ft
from fedtheory.__main__ import main
from fedtheory._support import validate
from fedtheory.bounds import power_of_choice as poc
from fedtheory.engine.families import layout
from fedtheory.exact.runs import for_run
from fedtheory.theorem.bound import states
from fedtheory.theorem.paper import Paper

PARABOLAS = ft.QuadraticFederation([1.0, 1.0], [[1.0], [-1.0]], [0.5, 0.5])
OWN = '''
from fedtheory.theorem import Paper, states
from fedtheory.bounds.power_of_choice import one_round


@states(Paper("own", "A paper", "Somebody", 2026), "Theorem 1")
def halved(num_steps, *, L, initial_distance2):
    """Bound on ``F(w_T) - F*``."""
    return {"all": L / 2 * initial_distance2 / (num_steps + 1)}
'''


@dataclass(frozen=True)
class Own:
    """A strategy that the library does not have, though it does what one of its own does."""

    num_selected: int
    scheme = ft.selection.Proportional.scheme

    def law(self, weights):
        return ft.selection.Proportional(self.num_selected).law(weights)

    def rules(self, weights, num_rounds):
        return ft.selection.Proportional(self.num_selected).rules(weights, num_rounds)


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Return the line that a command leaves with."""
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("verfy",), "got 'verfy' (close: verify)"),
        (("verify", "--kind", "eratum"), "got 'eratum' (close: erratum)"),
        (("verify", "--paper", "cho"), "got 'cho' (close: power-of-choice)"),
        (("list", "--from", "nothere.py"), "got nothere.py, which does not exist"),
        (("verify", "--from", "nothere.py"), "got nothere.py, which does not exist"),
    ],
)
def test_a_slip_on_the_command_line_is_answered_with_what_is_close(capsys, words, said) -> None:
    assert said in refused(capsys, *words)


@pytest.mark.parametrize(
    ("slip", "said"),
    [
        (lambda: poc.fixed_step_gap(100, step_sise=0.1), r"Theorem A.1 takes no step_sise \(close: step_size\)"),
        (lambda: poc.gradient_norm(1.0), "Lemma B.1 needs L, got excess"),
        (lambda: poc.gradient_norm(1.0, 2.0, 3.0), "too many positional arguments"),
    ],
)
def test_a_wrong_argument_of_a_bound_is_named(slip, said) -> None:
    with pytest.raises(TypeError, match=said):
        slip()


SYNONYMS = {
    "lr": "step_size", "learning_rate": "step_size", "lr_server": "server_step_size", "rounds": "num_rounds",
    "n_rounds": "num_rounds", "num_steps": "num_rounds, local_steps", "epochs": "local_steps", "seed": "rng",
    "batch": "batch_size", "repeats": "num_replicates", "num_replicate": "num_replicates", "momentun": "momentum",
}  # fmt: skip


@pytest.mark.parametrize("name", SYNONYMS)
def test_fedavg_answers_the_name_of_another_library_with_its_own(name) -> None:
    with pytest.raises(TypeError, match=rf"^fedavg takes no {name} \(close: {SYNONYMS[name]}\)$"):
        ft.fedavg(PARABOLAS, ft.selection.Full(), num_rounds=1, step_size=0.1, **{name: 1})


@pytest.mark.parametrize("name", ["lr", "learning_rate", "eta"])
def test_a_bound_answers_the_name_of_another_library_with_its_own(name) -> None:
    with pytest.raises(TypeError, match=rf"^Theorem A.1 takes no {name} \(close: step_size\)"):
        poc.fixed_step_gap(10, **{name: 1})


def test_a_word_that_is_close_to_none_is_answered_with_the_choice_alone() -> None:
    with pytest.raises(ValueError, match=r"kind must be one of 'red', 'blue', got 'xyz'$"):
        validate.choice("kind", "xyz", ("red", "blue"))


def test_a_bound_that_returns_a_number_is_told_to_name_its_summands() -> None:
    @states(Paper("own", "A paper", "Somebody", 2026), "Theorem 1")
    def gap(num_steps, *, mu):
        """Bound on something."""
        return num_steps * mu

    for asked in (lambda: gap(3, mu=2.0), gap.symbolic):
        with pytest.raises(TypeError, match="Theorem 1 must return its summands by name"):
            asked()


def test_list_show_and_bound_know_the_bounds_of_a_file_and_only_these(tmp_path: Path, capsys) -> None:
    file = tmp_path / "own.py"
    file.write_text(OWN, encoding="utf-8")
    given = ("--num-steps", "1", "--L", "2", "--initial-distance2", "3/2")
    assert main(("bound", "halved", "--from", str(file), *given, "--json")) == 0
    assert json.loads(capsys.readouterr().out)["exact"] == {}  # 2/2 * 3/2 / 2 = 3/4 is a double
    assert main(("show", "halved", "--from", str(file))) == 0
    assert "Somebody (2026), Theorem 1" in capsys.readouterr().out
    assert main(("list", "--from", str(file))) == 0
    listed = capsys.readouterr().out
    assert "halved" in listed
    assert "one_round" not in listed
    assert main(("bound", "halved", "--from", str(file), "--help")) == 0
    assert "--initial-distance2" in capsys.readouterr().out


def test_worst_in_json_has_the_numbers_of_its_table(capsys) -> None:
    words = ("worst", "power_of_choice.gradient_norm", "--excess", "1/3", "--L", "3/2")
    assert main((*words, "--json")) == 0
    found = json.loads(capsys.readouterr().out)
    # 2 L (F - F*) = 1, which a parabola attains.
    assert found["bound_value"] == 1
    assert found["worst_at_least"] <= 1 <= found["worst_at_most"]
    assert main(words) == 0
    assert f"{found['looseness']:.10g}" in capsys.readouterr().out


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


def test_latex_is_the_formula_of_the_docstring_where_there_is_one() -> None:
    shown = poc.fixed_step_gap._repr_latex_()
    assert r"x=1-\eta\mu(1+\tfrac{3\rho}8)" in shown  # as its author wrote it


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


def reads_losses(round_index, table, memory, weights, candidates, losses, rng, chosen):
    chosen[:] = candidates[np.argsort(losses)[: chosen.size]]
    return chosen.size


@dataclass(frozen=True)
class Unasked:
    """Reads losses for which nobody was asked; its rule is compiled, or plain Python."""

    is_compiled: bool

    def rules(self, weights, num_rounds):
        return ft.selection.Rules(select=njit(reads_losses) if self.is_compiled else reads_losses, max_selected=2)


@pytest.mark.parametrize("is_compiled", [True, False])
def test_a_rule_that_reads_losses_without_asking_is_told_of_propose(is_compiled: bool) -> None:
    fed = ft.datasets.power_of_choice_quadratics(num_clients=6, rng=0)
    with pytest.raises(ValueError, match=r"no rule propose.* give Rules propose= and max_candidates="):
        ft.fedavg(fed, Unasked(is_compiled), num_rounds=3, step_size=0.01)


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


def test_an_instance_of_a_worst_case_is_one_line_and_its_data_are_whole() -> None:
    worst = ft.worst_case.fedavg(1, Q(1, 4), mu=Q(1, 10), L=1, distance2=1, objective_gap=Q(1, 2))
    assert len(repr(worst.instance())) < 120
    assert repr(worst.instance()).startswith("Instance(2 functions and 2 points")
    functions = worst.instance().as_data()["functions"]
    assert sum(map(len, functions.values())) == len(worst.instance().clients)
