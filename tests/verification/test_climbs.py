"""The score of an instance, its size, the start of hill climbing, and the data sent to other processes."""

import signal
from dataclasses import replace

from fedtheory.claims.catalogue import one_claim
from fedtheory.theorem.claims import Claim
from fedtheory.theorem.findings import at_most, equal_to
from fedtheory.theorem.paper import Paper, Statement
from fedtheory.verification import _jobs
from fedtheory.verification._search import score


def test_of_two_identities_the_one_that_is_off_by_more_of_its_slack_is_higher() -> None:
    # A quarter of 3 and a quarter of 60 are allowed for; the ratios are a third and a sixth.
    assert score(equal_to(1.0, 3.0, rtol=0.25)) == 2 / 0.75
    assert score(equal_to(10.0, 60.0, rtol=0.25)) == 50 / 15
    assert score(at_most(1.0, 4.0)) == 0.25


def test_another_process_receives_the_key_of_a_claim_of_the_package_and_any_other_claim_itself() -> None:
    known = one_claim("power-of-choice:lemma-b1")
    own = Claim("toy:theorem", "a toy", Statement(Paper("toy", "", "", 2000), "Theorem 0"), "inequality", known.check)
    assert _jobs.sent(known) == known.key
    assert _jobs.received(known.key) is known
    assert _jobs.sent(own) is _jobs.received(own) is own
    # One that has the key of a claim of the package is another one all the same.
    assert isinstance(_jobs.sent(replace(known, home="mine.py")), Claim)
    assert isinstance(_jobs.sent(replace(known, check=own.check, title="mine")), Claim)


def test_control_c_is_left_to_the_process_that_was_started() -> None:
    item = (one_claim("power-of-choice:lemma-b1"), signal.SIGINT)
    assert list(_jobs.in_order(blocks, [item] * 2, 2)) == [True] * 2
    assert list(_jobs.in_order(blocks, [item], 1)) == [False]


def blocks(_: Claim, number: int) -> bool:
    return number in signal.pthread_sigmask(signal.SIG_BLOCK, ())
