"""Worst cases are those of the programs that are written down."""

from tests.worst_case import programs


def test_the_programs_and_refusals_are_those_that_are_written_down() -> None:
    """Where they are not, and are meant to: ``python -m tests.worst_case.programs``."""
    told = {name: programs.told(call) for name, call in programs.examples()}
    known = programs.recorded()
    assert {name: text for name, text in told.items() if known.get(name) != text} == {}
    assert known.keys() == told.keys()
