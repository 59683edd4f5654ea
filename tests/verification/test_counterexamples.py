"""The search finds rare counterexamples, repeats itself, and can be replayed."""

import math
from dataclasses import replace

import numpy as np
import pytest

from fedtheory.paper import Paper, Statement
from fedtheory.verification.claims import Claim
from fedtheory.verification.counterexamples import Tape, replay, search
from fedtheory.verification.findings import Finding, at_most, not_applicable
from fedtheory.verification.verdicts import examine

STATEMENT = Statement(Paper("toy", "A toy", "Nobody", 2000), "Theorem 0")


def sum_of_dice(rng: np.random.Generator) -> Finding:
    """Eight dice against 46: at random only 45 of 8 million throws exceed it, climbing gets there at once."""
    thrown = [int(rng.integers(1, 7)) for _ in range(8)]
    return at_most(sum(thrown), 46, instance={"thrown": thrown})


RARE = Claim("toy:dice", "eight dice show at most 46", STATEMENT, "inequality", sum_of_dice)


def test_climbing_finds_what_random_instances_miss() -> None:
    hunt = search(RARE, 2000)
    assert hunt.worst.holds is False
    assert hunt.num_instances < 2000
    assert examine(RARE, 2000).verdict == "holds"


def test_a_tape_replays_the_instance_it_stands_for() -> None:
    hunt = search(RARE, 200, rng=5)
    assert replay(RARE, hunt.tape) == hunt.worst
    assert len(hunt.tape) == 8


def test_the_same_seed_hunts_the_same_way() -> None:
    assert search(RARE, 100, rng=3) == search(RARE, 100, rng=3)


@pytest.mark.parametrize("budget", [1, 2, 37])
def test_a_search_that_finds_nothing_tries_as_many_instances_as_it_may(budget: int) -> None:
    drawn: list[float] = []

    def check(rng: np.random.Generator) -> Finding:
        drawn.append(float(rng.random()))
        return at_most(drawn[-1], 2.0)

    hunt = search(replace(RARE, check=check), budget)
    assert hunt.num_instances == len(drawn) == budget
    assert hunt.worst.measured == hunt.tape[0] == max(drawn)


def test_a_search_is_not_drawn_to_instances_that_decide_nothing() -> None:
    def check(rng: np.random.Generator) -> Finding:
        x = float(rng.random())
        return at_most(1.0, math.inf) if x > 0.7 else not_applicable() if x > 0.5 else at_most(x, 1.0)

    worst = search(replace(RARE, check=check), 50).worst
    assert worst.holds
    assert 0.3 < worst.measured <= 0.5


def test_a_search_goes_on_from_a_tape() -> None:
    found = search(RARE, 200, rng=5)
    assert search(RARE, 1, start=found.tape).worst == found.worst
    assert search(RARE, 50, start=found.tape).worst.strain >= found.worst.strain > search(RARE, 50).worst.strain


def test_no_instances_are_refused() -> None:
    with pytest.raises(ValueError, match="num_instances must be at least 1, got 0"):
        search(RARE, 0)


def test_a_tape_reads_like_a_generator() -> None:
    tape = Tape([0.0, 0.999, 0.5], np.random.default_rng(0))
    assert [tape.integers(1, 7), tape.integers(6), tape.random()] == [1, 5, 0.5]
    ends = Tape([0.0, 0.999, 0.0, 0.999], np.random.default_rng(0))
    assert [ends.integers(3, 7), ends.integers(3, 7), ends.integers(6), ends.integers(6)] == [3, 6, 0, 5]
    assert tape.random((2, 3)).shape == (2, 3)
    drawn = tape.integers(0, 4, size=50)
    assert drawn.shape == (50,)
    assert set(drawn.tolist()) <= {0, 1, 2, 3}
    assert len(tape.used) == 3 + 6 + 50
