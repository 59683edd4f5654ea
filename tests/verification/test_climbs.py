"""How high an instance is, how small, where climbs begin, and what other processes climb on."""

import signal
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest

from fedtheory.theorem.paper import Paper, Statement
from fedtheory.verification import _processes, _search, hunts
from fedtheory.verification._search import Step, height
from fedtheory.verification.catalogue import known_claims, one_claim
from fedtheory.verification.claims import Claim, Read
from fedtheory.verification.findings import Finding, at_most, equal_to


def test_of_two_identities_the_one_that_is_off_by_more_of_its_slack_is_higher() -> None:
    # A quarter of 3 and a quarter of 60 are allowed for; the ratios are a third and a sixth.
    assert height(equal_to(1.0, 3.0, rtol=0.25)) == 2 / 0.75
    assert height(equal_to(10.0, 60.0, rtol=0.25)) == 50 / 15
    assert height(at_most(1.0, 4.0)) == 0.25


def test_of_two_instances_that_read_alike_the_one_with_the_smaller_choices_is_smaller() -> None:
    def step(*choices: int) -> Step:
        reads = tuple(Read((choice + 0.5) / 6, 6) for choice in choices)
        return Step(at_most(9, 1, instance={"thrown": (12, -3)}), reads, 1)

    # Two numbers with three digits and a sign, 12 + 3 in sum; two choices.
    assert _search.size(step(4, 1)) == (2, 4, 15, 2, 5)
    assert _search.size(step(3, 3)) > _search.size(step(4, 1)) > _search.size(step(4, 0))


def test_every_second_climb_begins_with_the_tape(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = list[Any]()

    def trails(claim: Claim, begins: Any, *_: Any) -> Any:
        seen.extend(islice(begins, 4))
        yield from ()

    monkeypatch.setattr(hunts, "_trails", trails)
    claim, tape = one_claim("power-of-choice:lemma-b1"), (0.5, 0.25)
    assert list(hunts._steps(claim, np.random.SeedSequence(3), tape, hunts._budget(1.0, 9), 1)) == []
    assert [(seeds.spawn_key, start) for seeds, start in seen] == [((k,), () if k % 2 else tape) for k in range(4)]


def test_another_process_gets_the_key_of_a_claim_of_the_package_and_any_other_claim_as_it_is() -> None:
    known = one_claim("power-of-choice:lemma-b1")
    own = Claim("toy:theorem", "a toy", Statement(Paper("toy", "", "", 2000), "Theorem 0"), "inequality", known.check)
    assert _processes._portable(known, known_claims()) == _processes._Reference(known.key)
    assert _processes._Reference(known.key).claim() is known
    assert _processes._portable(own, known_claims()) is own


def test_making_small_ends_where_four_hundred_changes_in_a_row_made_nothing_smaller() -> None:
    def check(rng: np.random.Generator) -> Finding:
        rng.random()
        return at_most(2, 1)

    claim = replace(one_claim("power-of-choice:lemma-b1"), check=check)
    found = Step(at_most(2, 1), (Read(0.0, 0),), 1)
    assert len(list(islice(_search._simpler(claim, found, np.random.default_rng(0)), 1000))) == 400


def test_control_c_is_left_to_the_process_that_was_begun() -> None:
    item = (one_claim("power-of-choice:lemma-b1"), signal.SIGINT)
    assert list(_processes.in_order(handler, [item] * 2, 2)) == [signal.SIG_IGN] * 2
    assert list(_processes.in_order(handler, [item], 1)) == [signal.getsignal(signal.SIGINT)]


def handler(_: Claim, number: int) -> Any:
    return signal.getsignal(number)
