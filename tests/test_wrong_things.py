"""All public doors are asked for the same wrong things in the place of each number: a sentence, or a valid result."""

import contextlib
import io
import signal
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.wrong_things import NEVER, WRONG, Call, calls

# Doors that still answer otherwise; each is asked, and one that answers rightly leaves the list.
NOT_YET: dict[str, set[str]] = {
    "selection": {
        "fedtheory.selection.participation.attending",
        "fedtheory.selection.participation.PriorityDraws",
        "fedtheory.selection.participation.taking_part",
        "fedtheory.selection.rules.rules_of",
    },
    "datasets": {"fedtheory.datasets.least_squares.least_squares_federation"},
}
SECONDS = 10


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that interrupts")
@pytest.mark.parametrize("within", ["statistics", "evidence", "sampling", "selection", "datasets"])
def test_a_wrong_thing_is_a_sentence(within: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with contextlib.redirect_stdout(io.StringIO()):
        found = calls(within)
        wrong = {door: answers for door, call in found.items() if (answers := list(faults(call)))}
    assert sum(len(call.numeric()) for call in found.values()) > 2
    assert set(wrong) == NOT_YET.get(within, set()), wrong


def faults(call: Call) -> Iterator[str]:
    """Yield what a door answers to wrong things that is neither a sentence nor a valid result."""
    for name in call.numeric():
        for word, make in WRONG.items():
            told = answer(call, name, make())
            optional = word == "None" and call.signature.parameters[name].default is None
            if (told == "accepted" and word in NEVER and not optional) or told not in ("accepted", "a sentence"):
                yield f"{name} as {word}: {told}"


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
    said = (" must " in message and ", got " in message) or (" needs " in message and ": got " in message)
    return said and "\n" not in message


def late(*_: Any) -> None:
    raise TimeoutError
