"""All public doors are asked for the same wrong things in the place of each number: a sentence, or a valid result."""

import contextlib
import io
import signal
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.wrong_things import NEVER, PERHAPS, WRONG, Call, calls, doors

PACKAGES = sorted({name.split(".")[1] for name in doors()})
# What is no number, and yet right: a game as a function, steps of many runs at once.
WELCOME = {
    ("fedtheory.valuation.axioms.efficiency", "utility", "a function"),
    ("fedtheory.bounds.power_of_choice.whole_rounds.round_coefficients", "step_sizes", "a ragged list"),
}
# What is gone through, whatever it is.
ANYTHING = {("fedtheory.study.scripts.silent", "items"), ("fedtheory.federation.own_losses.LossFederation", "data")}
# Of records of the library that are written, not computed.
ANYTHING |= {("fedtheory.theorem.assumptions.Hypothesis", "rtol")}
# Whose valid calls take a while: only counts are asked for what may be a number.
SLOW = ("fedtheory.worst_case.",)
SECONDS = 10


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that interrupts")
@pytest.mark.parametrize("within", PACKAGES)
def test_a_wrong_thing_is_a_sentence(within: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with contextlib.redirect_stdout(io.StringIO()):
        found = calls(within)
        wrong = {door: answers for door, call in found.items() if (answers := list(faults(call)))}
    assert wrong == {}


def test_every_door_of_numbers_is_asked() -> None:
    assert {"bounds", "engine", "exact", "rational", "sampling", "statistics", "theorem", "worst_case"} <= {*PACKAGES}


def faults(call: Call) -> Iterator[str]:
    """Yield what a door answers to wrong things that is neither a sentence nor a valid result."""
    for name in call.numeric():
        if (call.door, name) in ANYTHING:
            continue
        for word, make in asked(call, name).items():
            told = answer(call, name, make())
            wanted = ("accepted", "a sentence") if word in PERHAPS else ("a sentence",)
            if (call.door, name, word) in WELCOME:
                wanted = ("accepted",)
            if told not in wanted:
                yield f"{name} as {word}: {told}"


def asked(call: Call, name: str) -> dict[str, Callable[[], Any]]:
    """Return the wrong things for an argument; None is none where it is the default."""
    default = call.signature.parameters[name].default
    things, optional = WRONG, default is None
    if call.door.startswith(SLOW) or name not in call.arguments:  # what is right may take a while, or compile a loop
        things = NEVER | ({"10^30": WRONG["10^30"]} if is_count(name) or type(default) is int else {})
    return {word: make for word, make in things.items() if word != "None" or not optional}


def is_count(name: str) -> bool:
    """Whether an argument says how many, by its name."""
    return name.startswith("num_") or name.endswith("_steps")


def answer(call: Call, name: str, wrong: Any) -> str:
    """Return how a door answers to one wrong thing."""
    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = call.exchanged(name, wrong)
    except (ValueError, TypeError) as error:
        return "a sentence" if is_sentence(str(error)) else repr(error)
    except Exception as error:  # whatever it is, it is no sentence
        return repr(error)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    numbers = np.atleast_1d(result) if isinstance(result, float | np.ndarray) else np.empty(0)
    is_nan = numbers.dtype.kind == "f" and bool(np.isnan(numbers).any())
    return "nan" if is_nan else "accepted"


def is_sentence(message: str) -> bool:
    """Whether a message says in one line what, wanted and got."""
    unmet = " needs " in message or message.startswith("no federation has these constants")
    said = (" must " in message and ", got " in message) or (unmet and ": got " in message)
    return said and "\n" not in message


def late(*_: Any) -> None:
    raise TimeoutError
