"""The page that lists all claims says what they say now, word by word."""

from fedtheory.verification.catalogue import known_claims
from tests import claim_list


def test_the_page_is_what_the_claims_say_now() -> None:
    """Where it is not: ``python -m tests.claim_list``."""
    assert claim_list.PAGE.read_text(encoding="utf-8") == claim_list.page()


def test_every_claim_stands_on_the_page_once() -> None:
    keys = [line.split("`")[1] for line in claim_list.page().splitlines() if line.startswith("`")]
    assert sorted(keys) == sorted(known_claims())
