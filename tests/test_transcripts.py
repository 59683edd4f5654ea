"""Commands print what they printed."""

import pytest

from tests import transcripts

WRITTEN = transcripts.written()


@pytest.mark.parametrize("command", transcripts.COMMANDS)
def test_a_command_prints_what_is_written_down(command: str) -> None:
    """Where it does not, and is meant to: ``python -m tests.transcripts``."""
    assert transcripts.transcript(command) == WRITTEN[command]


def test_the_transcripts_are_those_of_the_commands() -> None:
    assert tuple(WRITTEN) == transcripts.COMMANDS
