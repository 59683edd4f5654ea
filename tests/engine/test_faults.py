"""Any fault of a rule ends the run with one sentence that names strategy, rule, round and value."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from numba import njit

import fedtheory as ft
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


def sentence(error: Any, strategy: Any, **arguments: Any) -> str:
    with pytest.raises(error) as caught:
        ft.fedavg(FEDERATION, strategy, num_rounds=3, step_size=0.1, **arguments)
    return str(caught.value)


NUMBERS = {
    "a client far out of range": ("select", "chosen[0], chosen[1] = FAR, 0\nreturn 2"),
    "client K": ("select", "chosen[0], chosen[1] = 0, 6\nreturn 2"),
    "client -2": ("select", "chosen[0] = -2\nreturn 1"),
    "a place that nothing was written to": ("select", "chosen[0] = 3\nreturn 2"),
    "more than promised": ("select", "chosen[0], chosen[1] = 0, 1\nreturn 3"),
    "fewer than none": ("select", "return -1"),
    "candidate K": ("propose", "candidates[0] = 6\nreturn 1"),
    "candidate -1": ("propose", "candidates[0] = -1\nreturn 1"),
    "candidates that nothing was written to": ("propose", "return 4"),
    "7 of 6 candidates": ("propose", "return 7"),
    "fewer candidates than none": ("propose", "return -5"),
    "a coefficient that is no number": ("weigh", "coefficients[0], coefficients[1] = 1.0, np.nan\nreturn 0.0"),
    "an infinite coefficient": ("weigh", "coefficients[0], coefficients[1] = -np.inf, 1.0\nreturn 0.0"),
    "a coefficient that nothing was written to": ("weigh", "coefficients[0] = 1.0\nreturn 0.0"),
    "uplink that is no number": ("weigh", "coefficients[:] = 0.5\nreturn np.nan"),
    "infinite uplink": ("weigh", "coefficients[:] = 0.5\nreturn np.inf"),
    "uplink below zero": ("weigh", "coefficients[:] = 0.5\nreturn -1.0"),
    "5 of 6 present": ("attend", "present[:] = True\nreturn 5"),
    "fewer present than none": ("attend", "present[:] = True\nreturn -1"),
}


@pytest.mark.slow
@pytest.mark.parametrize("compiles", [True, False], ids=["compiled", "plain Python"])
@pytest.mark.parametrize("what", NUMBERS)
def test_what_a_rule_returns_is_checked_in_every_round(what, compiles):
    strategy = Misbehaving(*NUMBERS[what], compiles)
    said = sentence(ValueError, strategy)
    assert said.startswith(f"the rule {strategy.name} of {strategy!r} must ")
    assert said.endswith(" in round 1")


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
    strategy = Misbehaving(*OUTSIDE[what], compiles)
    said = sentence(ValueError, strategy)
    assert said.startswith(f"the rule {strategy.name} of {strategy!r} must stay within its arrays")


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
    assert f"the rule {name} must" in sentence(TypeError, Misbehaving(name, body))
    assert f"the rule {name} of Misbehaving" in sentence(ValueError, Misbehaving(name, body, compiles=False))


def test_a_rule_that_loses_the_absent_says_nothing_about_them():
    rule = Misbehaving("weigh", "coefficients[:] = 1.0 / max(chosen.size, 1)\nreturn 0.0")
    run = ft.fedavg(
        FEDERATION, ft.selection.Available(rule, BernoulliAvailability(0.5), "allow"),
        num_rounds=20, step_size=0.1, record=("uplink", "gap"),
    )  # fmt: skip
    assert np.isfinite(run.uplink).all()
    assert np.isfinite(run.gap).all()


@pytest.mark.parametrize(
    "change",
    [
        {"table": [1.0]}, {"memory": np.zeros(2, dtype=int)}, {"memory": np.zeros((2, 2))}, {"select": None},
        {"weigh": "mean"}, {"max_selected": 0}, {"max_candidates": -1}, {"candidate_loss": "noisy"},
    ],
    ids=str,
)  # fmt: skip
def test_what_rules_are_made_of_is_checked(change):
    with pytest.raises((TypeError, ValueError), match=f"^{next(iter(change))} must"):
        Rules(**{"select": first_two, "max_selected": 2, **change})


@pytest.mark.parametrize(
    ("name", "body"),
    [("select", "return 1.5"), ("select", "return None"), ("propose", "return 10**400"),
     ("weigh", "coefficients[:] = 0.5\nreturn 1j")],
)  # fmt: skip
def test_a_plain_rule_that_returns_no_number_is_named(name, body):
    said = sentence((TypeError, ValueError), Misbehaving(name, body, compiles=False))
    assert said.startswith(f"the rule {name} of Misbehaving")


@pytest.mark.skipif(PLAIN_PYTHON, reason="nothing is compiled")
def test_a_compiled_rule_that_returns_a_float_for_a_number_of_clients_is_refused():
    assert "the rule select must" in sentence(TypeError, Misbehaving("select", "return 1.5"))


@dataclass(frozen=True)
class Selecting:
    """A strategy of one rule."""

    select: Any

    def rules(self, weights: Any, num_rounds: int) -> Rules:
        return Rules(select=self.select, max_selected=2)


@pytest.mark.parametrize(
    ("wrong", "wanted"),
    [("losses[0]", "no rule propose"), ("candidates[0]", "no rule propose"), ("np.argmax(losses)", "no rule propose"),
     ("chosen[:] = candidates[: chosen.size]", "no rule propose"), ("[].pop()", "must not raise"),
     ("weights[9]", "must stay within its arrays"), ("1 / 0", "must not raise")],
)  # fmt: skip
def test_a_missing_propose_is_named_only_where_it_is_what_fails(wrong, wanted):
    space = {"np": np}
    exec(f"def own({', '.join(RULES['select'].arguments)}):\n    chosen[0] = 0\n    {wrong}\n    return 1\n", space)
    for rule in (space["own"], *([njit(space["own"])] if wrong.startswith("chosen") else [])):
        assert wanted in sentence(ValueError, Selecting(rule))


def forgetful(table, memory, weights, candidates, losses, rng, chosen):
    return 0


def silent(round_index, table, memory, weights, candidates, losses, rng, chosen):
    chosen[0] = 0


@pytest.mark.skipif(PLAIN_PYTHON, reason="nothing is compiled")
@pytest.mark.parametrize("rule", [forgetful, silent])
def test_a_rule_of_another_signature_is_refused_by_name_before_the_first_round(rule):
    said = sentence(TypeError, Selecting(njit(rule)))
    assert said.startswith(f"the rule select must follow fedtheory.selection.rules, got {rule.__name__}")
