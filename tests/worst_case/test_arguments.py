"""Every public function of worst cases rejects a wrong argument in one sentence that says what must hold."""

import inspect
from collections.abc import Callable
from fractions import Fraction as Q
from typing import Any

import numpy as np
import pytest

from fedtheory import worst_case
from fedtheory.bounds import fedavg as li
from fedtheory.bounds import sgd
from fedtheory.worst_case import Problem, compare

CLASS: dict[str, Any] = {"mu": Q(1, 10), "L": 1, "distance2": 1, "objective_gap": Q(1, 2)}
STEP: dict[str, Any] = {"local_steps": 1, "step_size": Q(1, 4)}
SKEWS: dict[str, Any] = {"rho_diagonal": Q(6, 5), "rho_tilde": 2}
COMPRESSED: dict[str, Any] = {
    "num_rounds": 1, "step_size": Q(5, 8), "mu": Q(3, 5), "L": 1, "compression_error": Q(1, 3),
}  # fmt: skip
CALLS: dict[str, dict[str, Any]] = {
    "fedavg": STEP | CLASS,
    "power_of_choice": STEP | CLASS | {"num_clients": 2, "num_candidates": 2, "num_selected": 1},
    "skew_class": STEP | CLASS | SKEWS,
    "skew_class_horizon": STEP | CLASS | SKEWS | {"num_steps": 2},
    "error_floor": {**STEP, "local_steps": 2} | {name: CLASS[name] for name in ("mu", "L", "objective_gap")},
    "fedalign": STEP | CLASS | {"client_gap": 1, "threshold": 1},
    "optimal_client_sampling": CLASS | {"weights": [Q(1, 2)] * 2, "expected_size": 1, "step_size": Q(1, 4)},
    "heterogeneous_round": STEP | {"mu": 1, "L": 3, "distance2": 4, "zeta2": 1},
    "fedprox": {"proximal_weight": 4, "L": 1, "negative_curvature": 0, "gradient_dissimilarity": 2},
    "scaffold": STEP | {"mu": 1, "L": 4},
    "error_feedback": COMPRESSED | {"potential": 1},
    "ef21": COMPRESSED | {"potential": 1},
    "compressed_gradients": COMPRESSED | {"gap": 1},
}
WRONG: dict[str, Any] = {
    "a text": "x", "a list": [], "an object": object(), "not a number": float("nan"), "negative": -3, "true": True,
    "a float": 0.25, "a NumPy float": np.float64(0.25), "complex": 1j, "an array": np.zeros(2),
}  # fmt: skip
UNUSED = {
    ("fedavg", "num_selected"), ("fedavg", "num_clients"), ("skew_class", "G2"),
    ("fedprox", "negative_curvature"), ("heterogeneous_round", "num_selected"),
}  # fmt: skip
"""Arguments that are not read in these calls, or of which a negative number is no slip."""


@pytest.mark.parametrize("name", CALLS)
def test_an_argument_of_a_wrong_kind_is_one_sentence(name: str) -> None:
    function = getattr(worst_case, name)
    for argument in inspect.signature(function).parameters:
        for kind, wrong in WRONG.items():
            if (name, argument) in UNUSED or (argument == "cells" and kind == "a list"):
                continue
            with pytest.raises((TypeError, ValueError)) as refused:
                function(**CALLS[name] | {argument: wrong})
            said = str(refused.value)
            assert "must" in said, (argument, kind, said)
            assert "\n" not in said
            if kind in ("a float", "a NumPy float") and "Fraction" in said:
                assert said.startswith(f"{argument} must be an int or a Fraction, got"), said
                assert said.endswith("(Fraction(1, 4))")


@pytest.mark.parametrize("name", CALLS)
def test_a_name_that_is_misspelled_is_answered_with_the_nearest(name: str) -> None:
    function = getattr(worst_case, name)
    with pytest.raises(
        TypeError, match=rf"{name} takes no muu \(close: mu\)" if "mu" in CALLS[name] else "takes no muu"
    ):
        function(**CALLS[name], muu=3)


THEOREM: dict[str, Any] = {
    "num_steps": 2, "mu": Q(1, 10), "L": 1, "local_steps": 2, "G2": 1, "weighted_sigma2": 0, "objective_gap": Q(1, 2),
    "initial_distance2": 1,
}  # fmt: skip
SLIPS: dict[str, tuple[Callable[[], Any], str]] = {
    "nothing": (lambda: compare(li.full_participation_gap), "Theorem 1 needs num_steps, mu, .* got nothing"),
    "None": (lambda: compare(None), "bound must be a bound of the library, got None"),  # type: ignore[arg-type]
    "a text": (lambda: compare("fedavg.one_round"), "bound must be a bound of the library, got 'f"),  # type: ignore[arg-type]
    "a function": (lambda: compare(len), "bound must be a bound of the library"),  # type: ignore[arg-type]
    "a slip": (lambda: compare(li.full_participation_gap, **THEOREM, muu=3), r"takes no muu \(close: mu\)"),
    "one short": (
        lambda: compare(sgd.drawn_step, mu=1, L=3, distance2=1, zeta2=1),
        "needs step_size, num_selected, got",
    ),
    "a float": (
        lambda: compare(li.full_participation_gap, **THEOREM | {"mu": 0.1}),
        r"mu must be an int or a Fraction, got 0.1 \(Fraction\(1, 10\)\)",
    ),
    "a float in a list": (
        lambda: compare(li.full_participation_gap, **THEOREM | {"G2": np.float64(0.5)}),
        r"G2 must be an int or a Fraction, got np.float64\(0.5\) \(Fraction\(1, 2\)\)",
    ),
    "no number": (lambda: compare(li.full_participation_gap, **THEOREM | {"mu": None}), "mu must contain real numbers"),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_in_a_comparison_is_one_sentence(slip: str) -> None:
    call, sentence = SLIPS[slip]
    with pytest.raises((TypeError, ValueError), match=sentence) as refused:
        call()
    assert "\n" not in str(refused.value)


IN_PROBLEMS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a misspelled curvature": (lambda p: p.function(muu=3), r"function takes no muu \(close: mu\)"),
    "of clients": (lambda p: p.clients(2, quadratik=True), r"clients takes no quadratik \(close: quadratic\)"),
    "of an operator": (lambda p: p.operator(lipshitz=1), r"operator takes no lipshitz \(close: lipschitz\)"),
    "a flag that is a text": (lambda p: p.function(L=1, quadratic="no"), "quadratic must be True or False, got 'no'"),
    "another": (lambda p: p.operator(monotone="no"), "monotone must be True or False"),
    "and another": (lambda p: p.operator(nonexpansive=1), "nonexpansive must be True or False"),
    "a least value that is a float": (lambda p: p.function(L=1, minimum=0.0), "minimum must be an int or a Fraction"),
    "an empty class of Polyak's": (lambda p: p.function(L=1, polyak=2), "polyak must be at most 1"),
    "outcomes of two kinds": (lambda p: p.mean([p.point(), three()]), "outcomes must be vectors, or forms"),
    "no outcomes": (lambda p: p.mean(None), "outcomes must be a list"),
    "weights": (lambda p: p.mean([p.point()], 3), "weights must be a list of numbers"),
    "a name": (lambda p: p.point(3), "name must be a string, got 3"),
    "a name of a bound": (lambda p: p.at_most(p.point().square, 1, name=["d"]), "name must be a string"),
    "no variance": (lambda p: p.function(L=1).step(p.point(), 1, variance=None), "variance must be an int or a Fract"),
    "a division by 0": (lambda p: p.point() / 0, "a divisor must differ from 0"),
    "of a form": (lambda p: p.point().square / 0, "a divisor must differ from 0"),
    "a vector for a form": (lambda p: p.maximize(p.point()), "got <vector v1>"),
    "a width": (lambda p: p.solve("narrow"), "narrow must contain real numbers, got .narrow."),
    "no objective": (lambda p: p.solve(), "a problem must maximize something"),
    "a square of 0": (lambda p: p.equal_to(p.point().square, 0), r"a square .* at most 0 \(.*minimizer\(at=x\)\)"),
    "at most a square of 0": (lambda p: p.at_most(2 * p.point().square, 0, "d"), "got a square that is at most 0"),
    "a negative width": (lambda p: solved(p, -1), "narrow must be finite and positive, got -1"),
    "what is compressed": (lambda p: p.compressed(3, Q(1, 2)), "compressed must be asked at a vector"),
    "where a line is": (lambda p: p.function(L=1).line_search(p.point(), 3), "line_search must be asked at a vector"),
    "what is squared": (lambda p: p.clients(2, L=1).sample(1).square(3), "square must be asked at a vector"),
}


def three() -> Any:
    return Problem().number() * 3


def solved(p: Problem, narrow: Any) -> Any:
    x = p.point()
    p.at_most(x.square, 1)
    p.maximize(x.square)
    return p.solve(narrow)


@pytest.mark.parametrize("case", IN_PROBLEMS)
def test_a_slip_in_a_problem_is_one_sentence(case: str) -> None:
    write, sentence = IN_PROBLEMS[case]
    with pytest.raises((TypeError, ValueError), match=sentence) as refused:
        write(Problem())
    assert "\n" not in str(refused.value)


def test_rationals_of_other_libraries_are_taken() -> None:
    assert Problem().function(mu=np.int64(1), L=np.int32(2)).of.L == 2
