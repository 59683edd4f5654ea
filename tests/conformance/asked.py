"""What the kit asks of other people's code, and in which words it says what is wrong, when somebody last looked.

``python -m tests.conformance.asked`` writes ``asked.json``. That the defects are caught is for other tests to say; but
which cases the kit puts before code, how often, and from which states of generators, decides what it can catch at all.
"""

import dataclasses
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np

from fedtheory.conformance import _declared
from fedtheory.selection.full import Full
from fedtheory.selection.uniform import Uniform
from fedtheory.testing import checks_of
from fedtheory.verification import check_strategy
from tests import draws
from tests.conformance.defects.strategies import Pair
from tests.conformance.right import RIGHT, Right

FILE = Path(__file__).with_suffix(".json")
FEWER = {
    "check_strategy": {"num_draws": 150}, "check_aggregation": {"num_draws": 60},
    "check_generator": {"num_clients": 50}, "check_shapley": {"num_draws": 60}, "check_bound": {"num_instances": 3},
}  # fmt: skip
NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e[+-]?\d+)?")


def title(right: Right) -> str:
    """Name the code, and how it is checked."""
    return "-".join([right.check.__name__, right.subject.__name__, *right.options])


def told(argument: Any) -> Any:
    """Tell an argument by numbers: a generator by its state, a utility by what some coalitions are worth."""
    if isinstance(argument, np.random.Generator):
        state: Any = argument.bit_generator.state["state"]
        return state["state"]
    if callable(argument):
        game: Any = argument
        return [game(()), game((0,)), *[game(range(n)) for n in range(2, game.__self__.num_players)]]
    return argument


def asked(right: Right) -> dict[str, list[Any]]:
    """Return by check how often the code is called and what it is called with, in sums that order does not change."""
    found: dict[str, list[Any]] = {}
    calls: list[Any] = []

    def recorded(*arguments: Any, **named: Any) -> Any:
        calls.append([told(argument) for argument in (*arguments, *named.values())])
        return right.subject(*arguments, **named)

    few = FEWER.get(right.check.__name__, {})
    for check in checks_of(recorded, by=right.check, **{**right.options, **few}):
        calls.clear()
        if check.name != "survives a hunt":  # hunts are written down elsewhere, and take their time
            check.failure()
            found[check.name] = [len(calls), *draws.record(calls)]
    return found


def asked_of_rules() -> dict[str, list[Any]]:
    """Return by check what a strategy's rule is called with; a run of the engine would compile it."""
    found: dict[str, list[Any]] = {}
    calls: list[Any] = []
    right = Pair()

    def recorded(*arguments: Any) -> Any:
        calls.append([told(argument) for argument in arguments])
        return right.select(*arguments)

    def rules(weights: Any, num_rounds: int) -> Any:
        calls.append([weights, num_rounds])
        return dataclasses.replace(right.rules(weights, num_rounds), select=recorded)

    subject = SimpleNamespace(rules=rules, law=right.law, inclusion_probabilities=right.inclusion_probabilities)
    for check in checks_of(subject, by=check_strategy, like=Uniform(2), num_draws=150):
        if check.name != "contract":
            calls.clear()
            check.failure()
            found[check.name] = [len(calls), *draws.record(calls)]
    return found


def contract_runs() -> list[tuple[Any, Any]]:
    """Return what the engine is handed to try a strategy: in order and by name, of each of its runs."""
    runs: list[tuple[Any, Any]] = []

    def fedavg(*arguments: Any, **named: Any) -> Any:
        runs.append((arguments, named))
        return SimpleNamespace(models=np.zeros(1))

    with mock.patch.object(_declared, "fedavg", fedavg):
        contract, *_ = checks_of(Full(), by=check_strategy)
        contract()
    return runs


def in_few_digits(sentence: str) -> str:
    """Write the numbers of a sentence with four digits, which no rounding moves."""
    return NUMBER.sub(lambda number: f"{float(number[0]):.4g}", sentence)


def objection(failure: Any) -> list[Any]:
    """Return the sentence of a failure, and the case that shows it."""
    return [in_few_digits(failure.sentence), *draws.record(failure.case)]


def recorded() -> dict[str, Any]:
    """Return what is written down."""
    known: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return known


def told_of_strategies() -> dict[str, Any]:
    """Return what strategies are asked, and how the engine runs them."""
    return {
        "asked of rules": asked_of_rules(),
        "runs of the engine": [draws.record([named]) for _, named in contract_runs()],
    }


def main() -> None:
    """Write everything down."""
    from tests.conformance.test_defects import DEFECTS, failure_of, name_of, same_always

    told = {f"asked of {title(right)}": asked(right) for right in RIGHT} | told_of_strategies()
    told |= {f"found in {name_of(defect)}": objection(failure_of(defect)) for defect in DEFECTS if same_always(defect)}
    lines = (f"{json.dumps(name)}: {json.dumps(part)}" for name, part in told.items())
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
