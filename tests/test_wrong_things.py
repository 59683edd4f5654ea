"""Every public function, called with one wrong argument at a time, raises a sentence or returns a valid result.

For a new public name, which ``tests/public_names.txt`` does not list, any other result is a skip that names it.
"""

import contextlib
import io
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fedtheory.errors import DivergenceWarning
from tests.additions import check_of_all
from tests.wrong_things import PERHAPS, REFUSED, WRONG, Call, calls, doors

PACKAGES = sorted({name.split(".")[1] for name in doors()})
# Of these only numbers and flags are exchanged: what they take otherwise is a record of the library, or of matplotlib.
NUMBERS_AND_FLAGS = {"arithmetic", "plotting", "instances", "study", "sweeps", "theorem", "verification", "worst_case"}
# Packages whose calls take a tenth of a second stand for all of them in the fast tier.
QUICK = ("arithmetic", "federation", "instances", "statistics", "theorem", "valuation")
# What is not of the usual kind, and yet right: steps of many runs, a share instead of a word.
WELCOME = {
    ("fedtheory.instances.vectors.vector", "numbers", "a word"),  # "1/2" is a rational
    ("fedtheory.bounds.power_of_choice.whole_rounds.round_coefficients", "step_sizes", "a ragged list"),
    ("fedtheory.selection.greedy_shapley.GreedyShapley", "averaging", "0"),
    ("fedtheory.selection.greedy_shapley.GreedyShapley", "averaging", "a half"),
    ("fedtheory.engine.play.play_round", "memory", "an array of nan"),
}
# What may be anything, or is not looked at.
ANYTHING = {
    ("fedtheory.study.scripts.silent", "items"),
    ("fedtheory.federation.own_losses.LossFederation", "data"),
    ("fedtheory.statistics.law.Law.certain", "outcome"),
    ("fedtheory.statistics.law.Law.uniform", "options"),
    ("fedtheory.selection.uniform.Uniform.inclusion_probabilities", "losses"),
    ("fedtheory.selection.proportional.Proportional.inclusion_probabilities", "losses"),
    ("fedtheory.engine.simulation.fedavg", "test"),
    # Records of the library that are written, not computed, and what the round loop hands over.
    ("fedtheory.theorem.assumptions.Hypothesis", "rtol"),
    ("fedtheory.engine.families.layout", "work"),
    *(("fedtheory.conformance.results.Conformance", name) for name in ("subject", "checks", "failures", "excepted")),
    # Only the helpers of a sweep look at these.
    *(("fedtheory.sweeps.run.sweep", name) for name in ("quick", "force", "progress")),
    *(("fedtheory.sweeps.plans.plan", name) for name in ("quick", "max_seconds")),
}
# Whole numbers and bounds beyond doubles beside floats.
TOO_LARGE = {
    ("fedtheory.bounds.power_of_choice.whole_rounds.round_coefficients", word) for word in ("10^400", "1e308")
} | {("fedtheory.theorem.findings.equal_to", "10^400")}
TOO_LARGE |= {("fedtheory.arithmetic.functions.short_of_one", word) for word in PERHAPS}
# Whose valid calls take a while: only counts are asked for what may be a number.
SLOW = ("fedtheory.worst_case.",)
SECONDS = 10


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that interrupts")
@pytest.mark.parametrize(
    "within", [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow]) for name in PACKAGES]
)
def test_a_wrong_thing_is_a_sentence(within: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with contextlib.redirect_stdout(io.StringIO()):
        found = {door: list(faults(call)) for door, call in calls(within).items()}
    wrong = [f"{owner(door)}: {told[0]} and {len(told) - 1} more" for door, told in found.items() if told]
    check_of_all("a sentence for each wrong argument", wrong)


def test_every_door_of_numbers_is_asked() -> None:
    assert {"bounds", "engine", "exact", "sampling", "statistics", "theorem", "worst_case"} <= {*PACKAGES}


def owner(door: str) -> str:
    """Return the public name that a door belongs to, as it is listed: the class of a method, a bound by its paper."""
    parts = door.split(".")
    parts = parts[:-1] if parts[-2][:1].isupper() else parts
    return f"{parts[2]}.{parts[-1]}" if parts[1] == "bounds" else ".".join(parts)


def faults(call: Call) -> Iterator[str]:
    """Yield what a door answers to wrong things that is neither a sentence nor a valid result."""
    for name, kind in call.kinds.items():
        for word, make in asked(call, name, kind).items():
            told = answer(call, name, make())
            is_refused = word in REFUSED[kind] and (call.door, name, word) not in WELCOME
            if told != "a sentence" and (is_refused or told != "accepted"):
                yield f"{name} as {word}: {told}"


def asked(call: Call, name: str, kind: str) -> dict[str, Callable[[], Any]]:
    """Return the wrong things for an argument; None is none where it is the default."""
    things, default = WRONG, call.signature.parameters[name].default
    if call.door.startswith(SLOW) or name not in call.arguments:  # what is right may take a while, or compile a loop
        counts = is_count(name) or type(default) is int
        things = {word: make for word, make in WRONG.items() if word in REFUSED[kind] or (counts and word == "10^30")}
    left_out = set() if default is not None else {"None"}
    if kind in ("function", "optional") or name == "utility":  # whose own errors are those of the caller
        left_out |= {"a function", "a class"}
    if (call.door, name) in ANYTHING or (
        call.door.split(".")[1] in NUMBERS_AND_FLAGS and kind not in ("number", "flag")
    ):
        return {}
    return {word: make for word, make in things.items() if word not in left_out and (call.door, word) not in TOO_LARGE}


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
            warnings.simplefilter("ignore", DivergenceWarning)  # a run, and what happens in it
            result = call.exchanged(name, wrong)
    except (ValueError, TypeError) as error:
        return "a sentence" if is_sentence(str(error)) else "accepted" if is_of_the_example(error) else repr(error)
    except Exception as error:  # whatever it is, it is no sentence
        return "accepted" if is_of_the_example(error) else repr(error)
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


def is_of_the_example(error: BaseException) -> bool:
    """Whether a function of the example raised it, which was called as it may be."""
    frames = list(traceback.walk_tb(error.__traceback__))
    return frames[-1][0].f_code.co_filename == "doctest"


def late(*_: Any) -> None:
    raise TimeoutError
