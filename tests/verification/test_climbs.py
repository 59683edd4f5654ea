"""The score of an instance, its size, where climbs begin, and what other processes receive."""

import signal
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest

from fedtheory.theorem.paper import Paper, Statement
from fedtheory.verification import _jobs, _search, hunts
from fedtheory.verification._search import Step, score
from fedtheory.verification.catalogue import one_claim
from fedtheory.verification.claims import Claim
from fedtheory.verification.findings import Finding, at_most, equal_to
from fedtheory.verification.instances import Choice


def test_of_two_identities_the_one_that_is_off_by_more_of_its_slack_is_higher() -> None:
    # A quarter of 3 and a quarter of 60 are allowed for; the ratios are a third and a sixth.
    assert score(equal_to(1.0, 3.0, rtol=0.25)) == 2 / 0.75
    assert score(equal_to(10.0, 60.0, rtol=0.25)) == 50 / 15
    assert score(at_most(1.0, 4.0)) == 0.25


def test_of_two_instances_that_read_alike_the_one_with_the_smaller_choices_is_smaller() -> None:
    def step(*choices: int) -> Step:
        reads = tuple(Choice((choice + 0.5) / 6, 6) for choice in choices)
        return Step(at_most(9, 1, instance={"thrown": (12, -3)}), reads, 1)

    # Two numbers with three digits and a sign, 12 + 3 in sum; two choices.
    assert _search.size(step(4, 1)) == (2, 4, 15, 2, 5)
    assert _search.size(step(3, 3)) > _search.size(step(4, 1)) > _search.size(step(4, 0))


def test_every_second_climb_begins_with_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = list[Any]()

    def trails(claim: Claim, begins: Any, *_: Any) -> Any:
        seen.extend(islice(begins, 4))
        yield from ()

    monkeypatch.setattr(hunts, "_trails", trails)
    claim, start = one_claim("power-of-choice:lemma-b1"), (0.5, 0.25)
    assert list(hunts._steps(claim, np.random.SeedSequence(3), start, hunts._budget(1.0, 9), 1)) == []
    assert [(seeds.spawn_key, start) for seeds, start in seen] == [((k,), () if k % 2 else start) for k in range(4)]


def test_another_process_receives_the_key_of_a_claim_of_the_package_and_any_other_claim_itself() -> None:
    known = one_claim("power-of-choice:lemma-b1")
    own = Claim("toy:theorem", "a toy", Statement(Paper("toy", "", "", 2000), "Theorem 0"), "inequality", known.check)
    assert _jobs.sent(known) == known.key
    assert _jobs.received(known.key) is known
    assert _jobs.sent(own) is _jobs.received(own) is own
    # One that has the key of a claim of the package is another one all the same.
    assert isinstance(_jobs.sent(replace(known, home="mine.py")), Claim)
    assert isinstance(_jobs.sent(replace(known, check=own.check, title="mine")), Claim)


def test_making_small_ends_where_four_hundred_changes_in_a_row_made_nothing_smaller() -> None:
    def check(rng: np.random.Generator) -> Finding:
        rng.random()
        return at_most(2, 1)

    claim = replace(one_claim("power-of-choice:lemma-b1"), check=check)
    found = Step(at_most(2, 1), (Choice(0.0, 0),), 1)
    assert len(list(islice(_search._simpler(claim, found, np.random.default_rng(0)), 1000))) == 400


def test_control_c_is_left_to_the_process_that_was_started() -> None:
    item = (one_claim("power-of-choice:lemma-b1"), signal.SIGINT)
    assert list(_jobs.in_order(handler, [item] * 2, 2)) == [signal.SIG_IGN] * 2
    assert list(_jobs.in_order(handler, [item], 1)) == [signal.getsignal(signal.SIGINT)]


def handler(_: Claim, number: int) -> Any:
    return signal.getsignal(number)
