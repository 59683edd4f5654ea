"""Searches find rare counterexamples, are reproducible, stop on time, and give small counterexamples."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from fedtheory.claims.catalogue import select_claims
from fedtheory.theorem.claims import Claim
from fedtheory.theorem.findings import Finding, at_most, equal_to, not_applicable
from fedtheory.theorem.paper import Paper, Statement
from fedtheory.verification import _jobs
from fedtheory.verification._search import score
from fedtheory.verification.hunts import hunt, hunting
from fedtheory.verification.instances import replay
from fedtheory.verification.verdicts import examine

STATEMENT = Statement(Paper("toy", "A toy", "Nobody", 2000), "Theorem 0")


def sum_of_dice(rng: np.random.Generator) -> Finding:
    """Eight dice against 46: at random only 45 of 8 million throws exceed it, climbing gets there at once."""
    thrown = [int(rng.integers(1, 7)) for _ in range(8)]
    return at_most(sum(thrown), 46, instance={"thrown": thrown})


RARE = Claim("toy:dice", "eight dice show at most 46", STATEMENT, "inequality", sum_of_dice)


def test_climbing_finds_what_random_instances_miss() -> None:
    found = hunt(RARE, evaluations=2000, small=False)
    assert found.worst.holds is False
    assert found.num_instances < 200
    assert examine(RARE, 2000).verdict == "no counterexample"


@pytest.mark.parametrize("small", [True, False])
def test_choices_replay_the_instance_that_they_stand_for(small: bool) -> None:
    for evaluations in (20, 300):
        found = hunt(RARE, evaluations=evaluations, rng=5, small=small)
        assert replay(RARE, found.choices) == found.worst
        assert len(found.choices) == 8


def test_the_same_seed_hunts_the_same_way() -> None:
    assert hunt(RARE, evaluations=300, rng=3) == hunt(RARE, evaluations=300, rng=3)
    assert hunt(RARE, evaluations=30, rng=3) != hunt(RARE, evaluations=30, rng=4)


@pytest.mark.parametrize("budget", [1, 2, 37, 900])
def test_a_hunt_that_finds_nothing_tries_as_many_instances_as_it_may(budget: int) -> None:
    drawn: list[float] = []

    def check(rng: np.random.Generator) -> Finding:
        drawn.append(float(rng.random()))
        return at_most(drawn[-1], 2.0)

    found = hunt(replace(RARE, check=check), evaluations=budget)
    assert found.num_instances == len(drawn) == budget
    assert found.worst.measured == found.choices[0] == max(drawn)


def test_a_hunt_is_not_drawn_to_instances_that_decide_nothing() -> None:
    def check(rng: np.random.Generator) -> Finding:
        x = float(rng.random())
        return at_most(1.0, math.inf) if x > 0.7 else not_applicable() if x > 0.5 else at_most(x, 1.0)

    worst = hunt(replace(RARE, check=check), evaluations=200).worst
    assert worst.holds
    assert 0.49 < worst.measured <= 0.5


def test_numbers_that_are_used_as_they_are_converge_to_the_maximum() -> None:
    peak = np.array([0.3, 0.7, 0.5, 0.1])

    def check(rng: np.random.Generator) -> Finding:
        return at_most(1 - float(((rng.random(4) - peak) ** 2).sum()), 1.0)

    # At random the nearest of 1200 points in four dimensions is about 0.1 away.
    assert hunt(replace(RARE, check=check), evaluations=1200).worst.ratio > 1 - 1e-6


def test_blocks_are_copied_so_that_clients_become_alike() -> None:
    def check(rng: np.random.Generator) -> Finding:
        first, second = ([int(rng.integers(0, 100)) for _ in range(4)] for _ in range(2))
        return at_most(sum(a == b for a, b in zip(first, second, strict=True)), 4)

    assert hunt(replace(RARE, check=check), evaluations=400).worst.ratio == 1.0


def test_a_hunt_goes_on_from_choices() -> None:
    found = hunt(RARE, evaluations=25, rng=5)
    assert found.worst.holds
    again = hunt(RARE, evaluations=1, start=found.choices)
    assert again.worst == found.worst
    assert hunt(RARE, evaluations=25, start=found.choices).worst.strain >= found.worst.strain


def mean_above_median(rng: np.random.Generator) -> Finding:
    """False for skewed samples; the smallest one has three numbers."""
    sample = [Fraction(int(rng.integers(-20, 21)), 4) for _ in range(int(rng.integers(1, 9)))]
    middle = sorted(sample)[len(sample) // 2]
    words = {"sample": ", ".join(map(str, sample))}
    return at_most(sum(sample, Fraction(0)) / len(sample), middle, instance=words)


MEDIAN = Claim("toy:median", "the mean is at most the upper median", STATEMENT, "inequality", mean_above_median)


@pytest.mark.parametrize("seed", range(4))
def test_a_counterexample_is_made_small(seed: int) -> None:
    found = hunt(MEDIAN, evaluations=3000, rng=seed)
    assert found.worst.holds is False
    sample = [Fraction(number) for number in found.worst.instance["sample"].split(", ")]
    # Of one or two numbers the upper median is the largest; three are needed, and one digit each is enough.
    assert len(sample) == 3
    assert all(len(str(abs(number))) == 1 for number in sample)


def test_clients_are_left_out_although_all_their_numbers_stand_elsewhere_then() -> None:
    def check(rng: np.random.Generator) -> Finding:
        """Each client has four numbers, high, low, high and low, in four rows that are drawn one after the other."""
        num_clients = 1 + int(rng.integers(0, 4))
        table = [[int(rng.integers(0, 10)) for _ in range(num_clients)] for _ in range(4)]
        right = sum((number < 5) == bool(row % 2) for row in range(4) for number in table[row])
        return at_most(right, 4 * num_clients - 1, instance={"table": table})

    # One client fewer moves three of the four rows: no single change of the choices leaves the claim broken.
    start = [0.9, *[0.9] * 4, *[0.0] * 4, *[0.9] * 4, *[0.0] * 4]
    found = hunt(replace(RARE, check=check), evaluations=2000, start=start)
    assert found.worst.instance == {"table": [[5], [0], [5], [0]]}


def test_time_ends_a_hunt() -> None:
    states = list(hunting(replace(RARE, check=lambda rng: at_most(float(rng.random()), 2.0)), seconds=0.05))
    assert states[-1].num_instances == len(states) > 1


def test_what_a_check_raises_says_on_which_choices() -> None:
    def check(rng: np.random.Generator) -> Finding:
        return at_most(1, 1 / (int(rng.integers(0, 3)) - 1) ** 2)

    with pytest.raises(ZeroDivisionError) as caught:
        hunt(replace(RARE, check=check), evaluations=100)
    assert caught.value.__notes__ == ["on the choices (0.4,)"]


def test_of_two_identities_the_one_that_is_off_by_more_of_its_slack_is_higher() -> None:
    # A quarter of 3 and a quarter of 60 are allowed for; the ratios are a third and a sixth.
    assert score(equal_to(1.0, 3.0, rtol=0.25)) == 2 / 0.75
    assert score(equal_to(10.0, 60.0, rtol=0.25)) == 50 / 15
    assert score(at_most(1.0, 4.0)) == 0.25


def key_and_size(claim: Claim, number: int) -> tuple[str, int]:
    return claim.key, abs(number)


@pytest.mark.slow
def test_processes_return_results_in_order_and_may_be_left_early() -> None:
    """They take a second to start."""
    lemma, second = select_claims(["power-of-choice:lemma-b1", "power-of-choice:step-54-55"])
    found = _jobs.in_order(key_and_size, [(lemma, 1), (second, 2)] * 20, 2)
    assert [next(found) for _ in range(3)] == [(lemma.key, 1), (second.key, 2), (lemma.key, 1)]
    found.close()
    assert list(_jobs.in_order(key_and_size, [(lemma, 1), (second, 2)], 2)) == [(lemma.key, 1), (second.key, 2)]
