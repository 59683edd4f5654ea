"""Random functions draw what they drew: a seed stands for the same instances as before."""

import pytest

from tests import draws

RECORDS = draws.recorded()


@pytest.mark.parametrize("name", draws.EXAMPLES)
def test_a_seed_stands_for_what_it_drew(name: str) -> None:
    """Where it does not, and is meant to: ``python -m tests.draws``, and new tapes for claims that use it."""
    checksum, count, *sums = draws.record(draws.EXAMPLES[name]())
    assert [checksum, count] == RECORDS[name][:2]
    assert sums == pytest.approx(RECORDS[name][2:], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("other", [[1, 2.0, "b"], [2, 2.0, "a"], [1, 2.5, "a"], [1, -2.0, "a"], [1, 2.0, "a", 3]])
def test_a_record_changes_with_every_part(other: list[object]) -> None:
    assert draws.record([1, 2.0, "a"]) != draws.record(other)
