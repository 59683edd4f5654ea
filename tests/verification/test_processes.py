"""Processes return their results in order."""

import pytest

from fedtheory.claims.catalogue import select_claims
from fedtheory.theorem.claims import Claim
from fedtheory.verification import _jobs


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
