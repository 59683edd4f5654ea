"""The theorem that Coq has proved about a bound has the bound's value as its right-hand side.

The right-hand side of each theorem is read from its file and evaluated for random constants, in rational numbers except
for roots.
"""

import inspect
import random
import re
import sys
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import pytest

from fedtheory.bounds.fedalign import rho, theta
from fedtheory.formal import REFUTED
from fedtheory.verification import known_bounds
from tests.bounds import worlds
from tests.formal.assumed import assumed_beyond
from tests.formal.letters import BOUNDS, PRINTS, reader
from tests.formal.reading import sides, split, statement

# Their theorems are lower bounds: the bound is the left side.
LOWER = {"power_of_choice.loss_after_step", "optimal_client_sampling.perturbed_inner_product"}

LONG_STEPS = {
    "error_feedback.cgd_gap",
    "proxskip.refined_fixed_step_potential",
    "stationary.averaging_distance",
    "stationary.normalized_round",
}


def proved(bound: str, arguments: Mapping[str, Any]) -> Any:
    """The value of a theorem's side for the arguments of its bound."""
    file, name, *_ = BOUNDS[bound]
    _, left, right = sides(file, name)
    return reader(bound, arguments).value(left if bound in LOWER else right)


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


@pytest.mark.parametrize("print_of", sorted(PRINTS))
def test_a_theorem_about_a_printed_form_says_what_it_returns(print_of: str) -> None:
    bound, theorem = PRINTS[print_of]
    printed = known_bounds()[bound].printed
    _, _, right = sides(theorem.file, theorem.name)
    rng = random.Random(bound)
    for _ in range(3):
        arguments = worlds.draw(bound, printed, rng)
        expected = printed(**arguments, strict=False)[0]
        assert reader(bound, arguments, theorem).value(right) == pytest.approx(expected, rel=1e-11, abs=0)


def test_other_constants_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each number of a statement in its turn, one larger."""
    bound = "fedavg.one_step"
    lets, left, right = sides(*BOUNDS[bound][:2])
    for found in re.finditer(r"\b\d+\b", right):
        wrong = f"{right[: found.start()]}{int(found[0]) + 1}{right[found.end() :]}"
        monkeypatch.setattr(sys.modules[__name__], "sides", lambda *_, wrong=wrong: (lets, left, wrong))
        with pytest.raises(AssertionError):
            test_a_theorem_says_what_its_bound_returns(bound)


def test_the_counterexample_fulfills_all_hypotheses_of_the_refuted_bound() -> None:
    """That of ``Refuted.v``: the step from 1/2 has the mean 1/60 towards 1/3, and the variance 5/36 / 100."""
    constants = {"mu": 1, "L": 1, "gamma": 1, "max_weight": Fraction(2, 3), "sum_squared_weights": Fraction(5, 9)}
    noise = {"relative_noise": 1, "sigma2": 0, "step_size": Fraction(1, 10), "per_client_gap": Fraction(4, 81)}
    [variant] = REFUTED
    value, unmet = known_bounds()[variant](Fraction(1, 36), gap=Fraction(1, 72), **constants, **noise, strict=False)
    assert not unmet
    assert value < (Fraction(1, 6) - Fraction(1, 60)) ** 2 + Fraction(1, 10) ** 2 * Fraction(5, 36)


STEPS = {
    "delayed_step_sizes": "delayed_step 0 t",
    "weighted_step_sizes": "weighted_step t",
    "power_of_choice": "decaying_step t",
    "fedavg": "round_steps 0 t",
}


@pytest.mark.parametrize("bound", sorted(name for name in BOUNDS if known_bounds()[name].step_sizes))
def test_steps_are_those_that_the_bound_prescribes(bound: str) -> None:
    prescribed = known_bounds()[bound].step_sizes
    assert prescribed is not None
    arguments = worlds.draw(bound, known_bounds()[bound], random.Random(bound))
    taken = {key: value for key, value in arguments.items() if key in inspect.signature(prescribed).parameters}
    horizon = "num_rounds" if "num_rounds" in inspect.signature(prescribed).parameters else "num_steps"
    steps = prescribed(**taken | {horizon: 3})
    term = STEPS.get(prescribed.__name__) or STEPS[prescribed.__module__.split(".")[2]]
    for t, step in enumerate(steps[:3]):
        # The letters take tau r + s, the number of a step, for the number of steps.
        assert reader(bound, arguments | {"t": t, "num_steps": t}).value(term) == pytest.approx(step, rel=1e-14)


@pytest.mark.parametrize("bound", ["fedalign.full_participation_gap", "fedalign.partial_participation_gap"])
def test_theta_and_rho_are_those_of_the_library(bound: str) -> None:
    """After two rounds of two steps each."""
    rounds = [Fraction(1), Fraction(1, 2)]
    arguments = {"mu": 1, "L": 2, "local_steps": 2, "T": 4}
    each_step = {"priority_weights": [1, 1, 0.5, 0.5], "included_gaps": [1, 1, 0.5, 0.5]}
    # Either premise is a sum over the steps so far, of which each has its round's number.
    sums = [part.rpartition(" <= ")[0] for part in split(statement(*BOUNDS[bound][:2]), " -> ") if "* sum T" in part]
    read = reader(bound, arguments | each_step)
    gamma = read.value("delay")
    assert [read.value(one.partition(" in ")[2] or one) for one in sums] == [
        theta(rounds, gamma=gamma, local_steps=2)[-1],
        rho(rounds, mu=1, L=2, gamma=gamma, local_steps=2)[-1],
    ]


@pytest.mark.slow
def test_a_premise_that_asks_for_more_is_seen() -> None:
    bound, premises = "power_of_choice.refined_fixed_step_gap", ["0 < eta", "eta * L <= 1 / 4", "rho <= L / mu"]
    assert assumed_beyond(bound, premises) == []
    for stronger in ("eta * L <= 1 / 5", "rho <= L / mu / 2", "(tau <= 3)%nat"):
        assert assumed_beyond(bound, [*premises, stronger])
