"""Any fault of a rule ends the run with one sentence that names strategy, rule, round and value."""

import re
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numba import njit

import fedtheory as ft
from fedtheory.engine.contract import KERNELS, SLOTS
from fedtheory.engine.faults import failures_named
from fedtheory.selection import BernoulliAvailability, Rules
from fedtheory.selection.rules import RULES
from tests.environment import PLAIN_PYTHON

K, FAR = 6, 10**9
FEDERATION = ft.QuadraticFederation(np.linspace(1.0, 2.0, K), np.arange(2.0 * K).reshape(K, 2), np.full(K, 1 / K))


def first_two(round_index, table, memory, weights, candidates, losses, rng, chosen):
    chosen[0], chosen[1] = 0, 1
    return 2


def everyone(round_index, table, memory, weights, rng, candidates):
    for k in range(weights.size):
        candidates[k] = k
    return weights.size


@cache
def rule_of(name: str, bodies: tuple[str, ...]) -> Any:
    """Make a rule that behaves in round 0 and from round 1 on does the body whose number stands first in the table."""
    arguments = ", ".join(RULES[name].arguments)
    good = {
        "attend": "present[:] = True\n    return present.size",
        "propose": "for k in range(weights.size):\n        candidates[k] = k\n    return weights.size",
        "select": "chosen[0], chosen[1] = 0, 1\n    return 2",
        "weigh": "coefficients[0], coefficients[1] = 0.5, 0.5\n    return 0.0",
        "value": "pass",
        "observe": "pass",
    }[name]
    space: dict[str, Any] = {"np": np, "FAR": FAR, "__name__": "rules_of_somebody"}
    text = f"def misbehaving({arguments}):\n"
    for number, body in enumerate(bodies):
        indented = body.replace("\n", "\n        ")
        text += f"    if round_index >= 1 and table[0] == {number}:\n        {indented}\n"
    exec(compile(f"{text}    {good}\n", "rules_of_somebody.py", "exec"), space)
    return space["misbehaving"]


compiled = cache(njit)  # the rules that behave are compiled once for all tests
NOW: dict[str, Any] = {}


@cache
def plain(name: str) -> Any:
    """Make a plain rule that does what ``NOW`` says: one way back to the interpreter, compiled, serves all tests."""

    def whatever_it_is_now(*arguments):
        return NOW[name](*arguments)

    return whatever_it_is_now


@dataclass(frozen=True)
class Misbehaving:
    """Two clients in each round, and one rule that is somebody else's."""

    name: str
    body: str
    compiles: bool = True

    def rules(self, weights: Any, num_rounds: int) -> Rules:
        together = tuple(body for name, body in COMPILE_TOGETHER if name == self.name)
        bodies = together if self.body in together else (self.body,)
        NOW[self.name] = rule_of(self.name, bodies)
        rule = NOW[self.name] if self.compiles else plain(self.name)
        table = np.array([bodies.index(self.body), 1.0, 1.0])
        rules: dict[str, Any] = {"select": first_two, "propose": everyone, self.name: rule}
        return Rules(
            max_selected=2, max_candidates=K, memory=np.zeros(K), table=table, attend_table=table,
            **{name: compiled(rule) if self.compiles else rule for name, rule in rules.items()},
        )  # fmt: skip


def sentence(error: type[Exception], strategy: Any, **arguments: Any) -> str:
    with pytest.raises(error) as caught:
        ft.fedavg(FEDERATION, strategy, num_rounds=3, step_size=0.1, **arguments)
    return str(caught.value)


NUMBERS = {
    "a client far out of range": ("select", "chosen[0], chosen[1] = FAR, 0\nreturn 2",
        f"name clients in 0..5, .* got {FAR}"),
    "client K": ("select", "chosen[0], chosen[1] = 0, 6\nreturn 2", "got 6"),
    "client -2": ("select", "chosen[0] = -2\nreturn 1", "got -2"),
    "a place that nothing was written to": ("select", "chosen[0] = 3\nreturn 2", "got -1"),
    "17 of 6 clients": ("select", "return 17", r"return a number of clients in 0\.\.2, got 17"),
    "1,000 clients": ("select", "return 1000", r"in 0\.\.2, got 1000"),
    "more than promised": ("select", "chosen[0], chosen[1] = 0, 1\nreturn 3", r"in 0\.\.2, got 3"),
    "fewer than none": ("select", "return -1", r"in 0\.\.2, got -1"),
    "a candidate far out of range": ("propose", "candidates[0] = FAR\nreturn 1", f"got {FAR}"),
    "candidate -1": ("propose", "candidates[0] = -1\nreturn 1", "got -1"),
    "candidates that nothing was written to": ("propose", "return 4", "got -1"),
    "7 of 6 candidates": ("propose", "return 7", r"in 0\.\.6, got 7"),
    "fewer candidates than none": ("propose", "return -5", r"in 0\.\.6, got -5"),
    "a coefficient that is no number": ("weigh", "coefficients[0], coefficients[1] = 1.0, np.nan\nreturn 0.0",
        "finite coefficient for each chosen client, .* got nan for client 1"),
    "an infinite coefficient": ("weigh", "coefficients[0], coefficients[1] = -np.inf, 1.0\nreturn 0.0",
        "got -inf for client 0"),
    "a coefficient that nothing was written to": ("weigh", "coefficients[0] = 1.0\nreturn 0.0", "got nan for client 1"),
    "uplink that is no number": ("weigh", "coefficients[:] = 0.5\nreturn np.nan", "additional floats sent.* got nan"),
    "uplink below zero": ("weigh", "coefficients[:] = 0.5\nreturn -1.0", "at least 0, got -1.0"),
    "infinite uplink": ("weigh", "coefficients[:] = 0.5\nreturn np.inf", "finite and at least 0, got inf"),
    "5 of 6 present": ("attend", "present[:] = True\nreturn 5", "how many clients it left present, 6, got 5"),
    "a billion present": ("attend", "present[:] = True\nreturn FAR", f"left present, 6, got {FAR}"),
    "fewer present than none": ("attend", "present[:] = True\nreturn -1", "left present, 6, got -1"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("compiles", [True, False], ids=["compiled", "plain Python"])
@pytest.mark.parametrize("what", NUMBERS)
def test_what_a_rule_returns_is_checked_in_every_round(what, compiles):
    name, body, wanted = NUMBERS[what]
    strategy = Misbehaving(name, body, compiles)
    said = sentence(ValueError, strategy)
    assert said.startswith(f"the rule {name} of {strategy!r} must ")
    assert said.endswith(" in round 1")
    assert re.search(wanted, said)


OUTSIDE = {
    "chosen": ("select", "chosen[FAR] = 1\nreturn 1"),
    "candidates of select": ("select", "candidates[FAR] = 1\nchosen[0] = 0\nreturn 1"),
    "weights": ("select", "chosen[0] = int(weights[FAR])\nreturn 1"),
    "table": ("select", "chosen[0] = int(table[3])\nreturn 1"),
    "memory": ("select", "memory[FAR] = 1.0\nchosen[0] = 0\nreturn 1"),
    "losses": ("select", "chosen[0] = int(losses[FAR])\nreturn 1"),
    "candidates": ("propose", "candidates[FAR] = 1\nreturn 1"),
    "coefficients": ("weigh", "coefficients[FAR] = 1.0\nreturn 0.0"),
    "updates": ("weigh", "coefficients[0] = updates[FAR, 0]\nreturn 0.0"),
    "memory of value": ("value", "memory[FAR] = 1.0"),
    "memory of observe": ("observe", "memory[FAR] = 1.0"),
    "present": ("attend", "present[FAR] = True\nreturn 6"),
}


COMPILE_TOGETHER = [(name, body) for name, body, *_ in (*NUMBERS.values(), *OUTSIDE.values())]


@pytest.mark.parametrize("compiles", [True, False], ids=["compiled", "plain Python"])
@pytest.mark.parametrize("what", OUTSIDE)
def test_a_rule_that_leaves_its_arrays_is_stopped(what, compiles):
    name, body = OUTSIDE[what]
    strategy = Misbehaving(name, body, compiles)
    said = sentence(ValueError, strategy)
    wanted = f"the rule {name} of {strategy!r} must stay within its arrays, got an index out of bounds in round 1"
    assert said.startswith(wanted)


FOREIGN = {
    "weights": ("select", "weights[0] = 1.0\nreturn 0"),
    "table": ("select", "table[0] = 1.0\nreturn 0"),
    "updates": ("weigh", "updates[0, 0] = 1.0\nreturn 0.0"),
    "chosen": ("weigh", "chosen[0] = 1\nreturn 0.0"),
    "model": ("value", "model[0] = 1.0"),
    "mean losses": ("observe", "mean_losses[0] = 1.0"),
    "coefficients": ("observe", "coefficients[0] = 1.0"),
}


@pytest.mark.skipif(PLAIN_PYTHON, reason="what is read-only is so to compiled code")
@pytest.mark.parametrize("what", FOREIGN)
def test_a_rule_writes_into_nothing_but_what_it_is_declared_to_write(what):
    name, body = FOREIGN[what]
    wanted = f"the rule {name} must follow .* it writes into what it may only read .*line 3.*; wanted {name}"
    assert re.search(wanted, sentence(TypeError, Misbehaving(name, body)))
    strategy = Misbehaving(name, body, compiles=False)
    wanted = f"the rule {name} of {strategy!r} must not raise, got ValueError in round 1: "
    assert sentence(ValueError, strategy) == wanted + "assignment destination is read-only"


@pytest.mark.skipif(PLAIN_PYTHON, reason="nothing is compiled")
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return chosne.size", "NameError: name 'chosne' is not defined"),
        ("return chosen.no_such_thing", "Unknown attribute 'no_such_thing'"),
        ("return 'two'", "Can't unify return type"),
    ],
)
def test_a_typo_is_told_with_numba_s_words(body, said):
    text = sentence(TypeError, Misbehaving("select", body))
    assert re.search(said, text)


def test_what_a_plain_rule_raises_says_where():
    with pytest.raises(NameError, match="chosne") as caught:
        ft.fedavg(FEDERATION, Misbehaving("select", "return chosne.size", False), num_rounds=3, step_size=0.1)
    assert "the rule select of Misbehaving(" in caught.value.__notes__[0]


def test_a_rule_that_loses_the_absent_says_nothing_about_them():
    rule = Misbehaving("weigh", "coefficients[:] = 1.0 / max(chosen.size, 1)\nreturn 0.0")
    run = ft.fedavg(
        FEDERATION, ft.selection.Available(rule, BernoulliAvailability(0.5), "allow"),
        num_rounds=20, step_size=0.1, record=("uplink", "gap"),
    )  # fmt: skip
    assert np.isfinite(run.uplink).all()
    assert np.isfinite(run.gap).all()


def test_a_run_that_diverges_by_itself_still_does():
    rule = Misbehaving("weigh", "coefficients[0], coefficients[1] = 1e308, 1e308\nreturn 0.0")
    with pytest.warns(ft.errors.DivergenceWarning):
        run = ft.fedavg(FEDERATION, rule, num_rounds=9, step_size=0.9)
    assert run.status.tolist() == ["diverged"]


@pytest.mark.parametrize(
    ("strategy", "got"),
    [(ft.selection.PowerOfChoice, "the class PowerOfChoice"), ("pow-d", "'pow-d'"), (None, "None")],
)
def test_what_is_no_strategy_is_refused_in_one_sentence(strategy, got):
    wanted = f"strategy must be a value with a method rules(weights, num_rounds), got {got}"
    assert sentence(TypeError, strategy) == wanted


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"table": [1.0]}, TypeError, "table must be a flat array of float64, got list"),
        ({"memory": np.zeros(2, dtype=int)}, TypeError, "memory must be a flat array of float64, got int64 of shape"),
        ({"memory": np.zeros((2, 2))}, TypeError, r"memory must be a flat array .* shape \(2, 2\)"),
        ({"select": None}, TypeError, r"select must be a function select\(round_index, .*\) -> int64, got None"),
        ({"weigh": "mean"}, TypeError, r"weigh must be a function weigh\(.*\) -> float64, got 'mean'"),
        ({"max_selected": 0}, ValueError, "max_selected must be at least 1, got 0"),
        ({"max_candidates": -1}, ValueError, "max_candidates must be at least 0, got -1"),
        ({"candidate_loss": "noisy"}, ValueError, "candidate_loss must be one of"),
    ],
)
def test_what_rules_are_made_of_is_checked(change, error, said):
    with pytest.raises(error, match=said):
        Rules(**{"select": first_two, "max_selected": 2, **change})


def test_what_the_rules_of_a_strategy_return_are_rules():
    class Listed:
        def rules(self, weights, num_rounds):
            return [first_two]

    assert re.search(r"must be fedtheory.selection.Rules, got list", sentence(TypeError, Listed()))


@pytest.mark.parametrize("name", KERNELS)
def test_what_a_kernel_raises_is_not_blamed_on_a_rule(name):
    failure, state = IndexError("out of bounds"), SimpleNamespace(report=([*SLOTS].index(name), 3))
    wanted = f"the kernel {name} must stay within its arrays, got an index out of bounds in round 3"
    with pytest.raises(ValueError, match=wanted), failures_named(None, state):
        raise failure


NO_NUMBER = {
    "a float": ("select", "return 1.5", "got TypeError"),
    "nothing": ("select", "return None", "got TypeError"),
    "an array": ("select", "return np.array([1, 2])", "got ValueError"),
    "too large a number": ("propose", "return 10**400", "got OverflowError"),
    "a complex number": ("weigh", "coefficients[:] = 0.5\nreturn 1j", "got TypeError"),
}


@pytest.mark.parametrize("what", NO_NUMBER)
def test_a_plain_rule_that_returns_no_number_is_named(what):
    name, body, wanted = NO_NUMBER[what]
    strategy = Misbehaving(name, body, compiles=False)
    said = sentence(TypeError if "TypeError" in wanted else ValueError, strategy)
    assert said.startswith(f"the rule {name} of {strategy!r} must not raise, {wanted} in round 1")


@pytest.mark.skipif(PLAIN_PYTHON, reason="nothing is compiled")
def test_a_compiled_rule_that_returns_a_float_for_a_number_of_clients_is_refused():
    said = sentence(TypeError, Misbehaving("select", "return 1.5"))
    assert re.search("the rule select must follow .*: it returns float64 where a whole number is wanted", said)


class Selecting:
    """A strategy of one rule in plain Python."""

    def __init__(self, select: Any, **others: Any) -> None:
        self.given = {"select": select, "max_selected": 2, **others}

    def __repr__(self) -> str:
        return "Selecting()"

    def rules(self, weights: Any, num_rounds: int) -> Rules:
        return Rules(**self.given)


BLAMED = {
    "losses[0]": "no rule propose",
    "candidates[0]": "no rule propose",
    "np.argmax(losses)": "no rule propose",
    "[].pop()": "must not raise, got IndexError in round 0: pop from empty list",
    "weights[9]": "must stay within its arrays, got an index out of bounds in round 0",
    "memory[0]": "must stay within its arrays, got an index out of bounds in round 0",
    "int('one')": "must not raise, got ValueError in round 0: invalid literal for int()",
    "rng.choice(3, 5, replace=False)": "must not raise, got ValueError in round 0: Cannot take a larger sample",
    "{}['key']": "must not raise, got KeyError in round 0: 'key'",
    "1 / 0": "must not raise, got ZeroDivisionError in round 0: division by zero",
    "weights + [1, 2]": "must not raise, got ValueError in round 0: operands could not be broadcast",
}


@pytest.mark.parametrize("wrong", BLAMED)
def test_a_missing_propose_is_named_only_where_it_is_what_fails(wrong):
    space = {"np": np}
    exec(f"def own({', '.join(RULES['select'].arguments)}):\n    chosen[0] = 0\n    {wrong}\n    return 1\n", space)
    said = sentence(ValueError, Selecting(space["own"]))
    assert said.startswith("the rule select of Selecting() must")
    assert BLAMED[wrong] in said


def test_a_rule_that_fails_by_chance_is_not_blamed_on_missing_candidates():
    def by_chance(round_index, table, memory, weights, candidates, losses, rng, chosen):
        if rng.random() < 0.5:
            raise ValueError("tails")
        chosen[0] = 0
        return 1

    for seed in range(6):  # each would be blamed with probability 1/2
        with pytest.raises(ValueError, match=r"must not raise, got ValueError in round \d+: tails$"):
            ft.fedavg(FEDERATION, Selecting(by_chance), num_rounds=60, step_size=0.1, rng=seed)


class WritesWeights:
    """A rule in plain Python that writes what it may only read."""

    def rules(self, weights: Any, num_rounds: int) -> Rules:
        def select(round_index, table, memory, weights, candidates, losses, rng, chosen):
            weights[0], chosen[0] = 0.0, 0
            return 1

        return Rules(select=select, max_selected=1)


def test_writing_into_the_weights_is_not_blamed_on_missing_candidates() -> None:
    with pytest.raises(ValueError, match=r"must not raise, got ValueError in round 0: assignment destination is read-"):
        ft.fedavg(FEDERATION, WritesWeights(), num_rounds=2, step_size=0.1)
