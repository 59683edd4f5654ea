"""The page on tightness says what hunts have reached, and why nothing more is to be reached."""

import re

import pytest

from fedtheory.verification.catalogue import known_claims
from fedtheory.verification.claims import Claim
from tests.tightness_table import PAGE, STRAINED, inequalities, quick, row

STORED = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
CLAIMS = known_claims()


def key_of(line: str) -> str:
    return line.split("`")[1]


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


@pytest.mark.parametrize("line", STORED, ids=key_of)
def test_a_line_says_what_is_stored(line: str) -> None:
    """Where it does not: ``python -m tests.tightness_table``."""
    assert row(CLAIMS[key_of(line)], float(cells(line)[1])) == line


@pytest.mark.parametrize("line", STORED, ids=key_of)
def test_a_hunt_gets_farther_than_random_instances_and_what_is_left_has_a_reason(line: str) -> None:
    _, at_random, reached, _, why = cells(line)
    assert float(reached) > float(at_random)
    assert why


def test_hunts_raise_the_ratio_of_at_least_ten_inequalities_above_one_half() -> None:
    raised = [line for line in STORED if float(cells(line)[1]) < 0.5 <= float(cells(line)[2])]
    assert len(raised) >= 10


def test_a_claim_whose_best_ratio_is_below_one_in_twenty_says_why() -> None:
    # Another test holds that no factor of the ladder below the looseness refutes: 20 lies between 16 and 32.
    loose = [claim for claim in inequalities() if claim.looseness and claim.looseness > 16]
    assert {claim.key for claim in loose} >= {key_of(line) for line in STORED if float(cells(line)[2]) < 0.05}
    assert all(len(claim.remark.split()) > 4 for claim in loose)


def test_the_lines_are_in_the_order_of_the_claims_and_some_inequality_needs_none() -> None:
    listed = [key_of(line) for line in STORED]
    assert listed == [claim.key for claim in inequalities() if claim.key in listed]
    assert "power-of-choice:lemma-b1" not in listed


@pytest.mark.slow  # all inequalities at the quick budget take a minute of processor time
@pytest.mark.parametrize("claim", inequalities(), ids=lambda claim: claim.key)
def test_the_page_lists_an_inequality_just_if_random_instances_hardly_strain_it(claim: Claim) -> None:
    at_random = quick(claim)
    found = [line for line in STORED if key_of(line) == claim.key]
    assert found == ([row(claim, at_random)] if at_random < STRAINED else [])
