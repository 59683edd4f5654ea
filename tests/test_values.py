"""Public functions return what they returned on arguments that are like no other."""

import math

import pytest

from tests import values

RECORDS = values.recorded()


@pytest.mark.parametrize("name", values.EXAMPLES)
def test_a_call_returns_what_is_written_down(name: str) -> None:
    """Where it does not, and is meant to: ``python -m tests.values``."""
    counts_and_sums = values.record(values.EXAMPLES[name]())
    assert counts_and_sums[:2] == RECORDS[name][:2]
    # Searches and solvers end at 1e-9 and nearer; rounding, summed in another order, is smaller still.
    assert counts_and_sums[2:] == pytest.approx(RECORDS[name][2:], rel=1e-8)


def test_the_records_are_those_of_the_calls() -> None:
    assert list(RECORDS) == list(values.EXAMPLES)


@pytest.mark.parametrize("other", [[2.0, 1.0], [1.0, 2.5], [1.0, -2.0], [1.0, 2.0, 0.0], [1.0, math.inf]])
def test_a_record_changes_with_every_number_and_its_place(other: list[float]) -> None:
    assert values.record([1.0, 2.0]) != values.record(other)
