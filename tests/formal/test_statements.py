"""What Coq has proved about a bound is what the bound returns.

The right side of each theorem is read from its file and evaluated for drawn constants, in rational numbers except for
roots.
"""

import random
import re
import sys
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from fedtheory.formal import PROVED, REFUTED
from fedtheory.verification import known_bounds
from tests.bounds import worlds
from tests.formal.letters import letters
from tests.formal.reading import Reader, definitions, sides

BOUNDS = {**PROVED, **REFUTED}
# Their theorems are lower bounds: the bound is the left side.
LOWER = {"power_of_choice.loss_after_step", "optimal_client_sampling.perturbed_inner_product"}

LONG_STEPS = {
    "error_feedback.cgd_gap",
    "proxskip.refined_fixed_step_potential",
    "stationary.averaging_distance",
    "stationary.normalized_round",
}


def number(value: Any) -> Any:
    return [Fraction(one) for one in value] if isinstance(value, list) else Fraction(value)


def proved(bound: str, arguments: dict[str, Any]) -> Any:
    """The value of a theorem's side for the arguments of its bound."""
    file, name = BOUNDS[bound]
    lets, left, right = sides(file, name)
    given = {key: number(value) for key, value in arguments.items()}
    names, words = {}, {}
    for key, value in letters(bound).items():
        if not key.isidentifier():
            words[key] = value
        elif set(re.findall(r"\w+", value)) <= set(given):
            names[key] = Reader(given, {}, {}, {}).value(value)
    return Reader(given | names, words, lets, definitions(file, name)).value(left if bound in LOWER else right)


def worlds_of(bound: str) -> Iterator[dict[str, Any]]:
    """Constants as drawn, and two more where the other side of a maximum is the larger one."""
    rng = random.Random(bound)
    for _ in range(3):
        yield worlds.draw(bound, known_bounds()[bound], rng)
    arguments = worlds.draw(bound, known_bounds()[bound], rng)
    if "initial_distance2" in arguments:
        yield arguments | {"initial_distance2": 10**6 * arguments["initial_distance2"]}
    if bound in LONG_STEPS:
        yield arguments | {
            "step_size": Fraction(19, 10) / arguments["L"] / Fraction(arguments.get("effective_steps", 1))
        }


@pytest.mark.parametrize("bound", sorted(BOUNDS))
def test_a_theorem_says_what_its_bound_returns(bound: str) -> None:
    for arguments in worlds_of(bound):
        value, expected = proved(bound, arguments), known_bounds()[bound](**arguments, strict=False)[0]
        if isinstance(value, float) or isinstance(expected, float):
            assert value == pytest.approx(expected, rel=1e-11)
        else:
            assert value == expected


def test_other_constants_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each number of a statement in its turn, one larger."""
    bound = "power_of_choice.decaying_steps_gap"
    lets, left, right = sides(*BOUNDS[bound])
    for found in re.finditer(r"\b\d+\b", right):
        wrong = f"{right[: found.start()]}{int(found[0]) + 1}{right[found.end() :]}"
        monkeypatch.setattr(sys.modules[__name__], "sides", lambda *_, wrong=wrong: (lets, left, wrong))
        with pytest.raises(AssertionError):
            test_a_theorem_says_what_its_bound_returns(bound)
