"""Worst cases are those of the programs that are written down, and as large as they say."""

import inspect
import math
from fractions import Fraction as Q
from functools import partial
from typing import Any

import pytest

from fedtheory import worst_case as worst
from tests.worst_case import programs
from tests.worst_case.programs import CLASS

SKEWS: dict[str, Any] = {"rho_diagonal": Q(6, 5), "rho_tilde": Q(2)}
FLOOR: dict[str, Any] = {"mu": Q(1, 10), "L": 1, "objective_gap": 1, **SKEWS}
ALIGNED: dict[str, Any] = {**CLASS, "client_gap": Q(1, 2), "threshold": Q(1, 5), "objective": "gap", "minima": "free"}
TWO_OF_THREE: dict[str, Any] = {**CLASS, "num_selected": 2, "num_clients": 3}
CALLS: dict[str, partial[Any]] = {
    "aligned": partial(worst.fedalign, 3, Q(1, 4), **ALIGNED),
    "floor": partial(worst.error_floor, 3, Q(1, 4), **FLOOR),
    "averaged": partial(worst.fedavg, 3, Q(1, 4), **CLASS, num_rounds=2),
    "averaged gap": partial(worst.fedavg, 3, Q(1, 4), **CLASS, objective="gap"),
    "distinct": partial(worst.fedavg, 2, Q(1, 4), **TWO_OF_THREE, sampling="distinct", num_rounds=2),
    "distinct gap": partial(
        worst.fedavg, 1, Q(1, 4), **TWO_OF_THREE, sampling="distinct", num_rounds=2, objective="gap"
    ),
    "independent gap": partial(worst.fedavg, 3, Q(1, 4), **TWO_OF_THREE, sampling="independent", objective="gap"),
    "optimal": partial(worst.optimal_client_sampling, [Q(1, 4)] * 4, 1, Q(1, 4), **CLASS),
    "skewed": partial(worst.skew_class, 3, Q(1, 4), **CLASS, **SKEWS),
    "skewed rounds": partial(worst.skew_class_horizon, 6, 3, Q(1, 4), **CLASS, **SKEWS),
    "candidates": partial(worst.power_of_choice, 4, 2, 1, 1, Q(1, 4), **CLASS),
    "two largest": partial(worst.power_of_choice, 3, 3, 2, 3, Q(1, 4), **CLASS),
}
WORDS = [
    (name, parameter.name)
    for name, call in CALLS.items()
    for parameter in inspect.signature(call).parameters.values()
    if isinstance(parameter.default, str)
]


def test_the_programs_and_refusals_are_those_that_are_written_down() -> None:
    """Where they are not, and are meant to: ``python -m tests.worst_case.programs``."""
    told = {name: programs.told(call) for name, call in programs.examples()}
    known = programs.recorded()
    assert {name: text for name, text in told.items() if known.get(name) != text} == {}
    assert known.keys() == told.keys()


@pytest.mark.parametrize("name", CALLS)
def test_a_program_that_is_refused_has_a_block_of_the_size_that_is_said_and_none_larger(name: str) -> None:
    with pytest.raises(ValueError, match=r"must have at most 1 rows .*, got") as refusal:
        CALLS[name](max_block=1)
    size = int(str(refusal.value).rpartition(" ")[2])
    found, _ = programs.stated(partial(CALLS[name], max_block=size))
    assert max(max(program.sizes) for program in found) == size


@pytest.mark.parametrize(("name", "word"), WORDS)
def test_every_word_is_one_of_those_that_are_known(name: str, word: str) -> None:
    with pytest.raises(ValueError, match=f"{word} must be one of '.*, got 'another'"):
        CALLS[name](**{word: "another"})


@pytest.mark.parametrize("name", CALLS)
def test_every_number_is_refused_by_name_where_it_is_none(name: str) -> None:
    call = CALLS[name]
    signature = inspect.signature(call.func)
    given = signature.bind_partial(*call.args, **call.keywords).arguments
    numbers = {one.name for one in signature.parameters.values() if not isinstance(one.default, str)}
    for number in numbers - {"cells", "weights"}:
        for bad in (math.nan, -1, True, "1"):
            found, refusal = programs.stated(partial(call.func, **{**given, number: bad}))
            assert not found
            assert number in str(refusal)
