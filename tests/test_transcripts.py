"""Commands print what they printed."""

import re
from collections import Counter

import pytest

from tests import transcripts

WRITTEN = transcripts.written()
# What these print grows with the library.
LISTS = re.compile(
    r"list |show (power_of_choice\.gradient_norm|fedavg:lemma|fedalign:equation-3)|hunt fedalign:|replay lemma-b1$"
    r"|bound (fedavg\.|power_of_choice\.de) |worst fedavg\.l "
)


def entries(lines: list[str]) -> list[str]:
    """What a list tells, without the widths of columns and the first few names that could be meant."""
    bare = (re.sub(r" \(close: .*\)|, which may be .*", "", line.strip()) for line in lines)
    return [entry for line in bare for entry in re.split(r", |\s{2,}", line) if entry]


def added(written: list[str], today: list[str]) -> list[str]:
    """Return what a list tells today beside what it told; that must still be there, in the same order."""
    rest = iter(entries(today))
    assert [entry for entry in entries(written) if entry not in rest] == []
    return list((Counter(entries(today)) - Counter(entries(written))).elements())


@pytest.mark.parametrize("command", transcripts.COMMANDS)
def test_a_command_prints_what_is_written_down(command: str) -> None:
    """Where it does not, and is meant to: ``python -m tests.transcripts``."""
    today, written = transcripts.transcript(command), WRITTEN[command]
    if today != written and LISTS.match(command):
        pytest.skip(
            f"tests/transcripts.txt does not have {'; '.join(added(written, today)) or 'all names that may be meant'}"
        )
    assert today == written


def test_what_a_list_no_longer_tells_is_no_addition() -> None:
    more = ["a    one", "new  two", "got x (close: b, c)", "got y, which may be d, e"]
    assert added(["a  one", "got x (close: c)", "got y, which may be e, f"], more) == ["new", "two"]
    with pytest.raises(AssertionError):
        added(["a  one", "b  two"], ["a  one", "new  two"])


def test_the_transcripts_are_those_of_the_commands() -> None:
    assert tuple(WRITTEN) == transcripts.COMMANDS
