"""Tables in a console are as wide as it is and no wider."""

import io
import re
import sys
import types
from pathlib import Path

import pytest

from fedtheory.__main__ import main
from fedtheory._support.blocks import in_blocks
from fedtheory._support.console import _fitting, show_blocks, show_table
from fedtheory._support.summary import Summary
from fedtheory._support.wording import plain
from tests.environment import ROOT

ROW = {"key": "a" * 10, "title": "b" * 10, "sentence": "c" * 90, "n": "d" * 10}


def test_columns_are_shown_as_long_as_they_and_the_two_blanks_before_each_fit() -> None:
    # 10, then 2 + 10 for each short column, and 2 + 20 for one that is folded.
    shown = {width: tuple(_fitting([ROW], width)) for width in (9, 21, 22, 33, 34, 55, 56)}
    assert shown == {
        9: ("key",),
        21: ("key",),
        22: ("key", "title"),
        33: ("key", "title"),
        34: ("key", "title", "n"),
        55: ("key", "title", "sentence"),
        56: ("key", "title", "sentence", "n"),
    }


def test_a_column_is_as_wide_as_its_longest_entry_or_its_name() -> None:
    rows = [{"key": "a", "title": "b" * 8}, {"key": "a" * 5, "title": "b"}]
    assert _fitting(rows, 15) == ["key", "title"]
    assert _fitting(rows, 14) == ["key"]
    assert _fitting([{"key": "a", "title": ""}], 10) == ["key", "title"]
    assert _fitting([{"key": "a", "title": ""}], 9) == ["key"]


def test_a_table_is_written_to_what_can_only_write(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    only = types.SimpleNamespace(write=written.append, isatty=lambda: False)
    monkeypatch.setattr(sys, "stdout", only)
    show_table([{"d": 3, "gap": 0.25}], caption="all")
    assert "".join(written) == "d   gap\n3  0.25\nall\n"


STEERING = "\x1b]0;owned\x07\x1b[2J\u202etxt.exe"
OWN = f"""
from fedtheory.theorem.paper import Paper, Statement
from fedtheory.verification import at_most, claim

STATEMENT = Statement(Paper("mine", {STEERING!r}, "Me", 2026), {STEERING!r})

@claim("mine:half", {STEERING!r}, STATEMENT, looseness=2)
def half(rng):
    return at_most(float(rng.random()), 0.5)
"""


def test_one_home_writes_to_the_console() -> None:
    """What other modules write is JSON, which escapes, the words of a shell, the parser's help, counts, or numbers."""
    known = {"console.py", "progress.py", "documents.py", "completing.py", "parsing.py", "checker.py"}
    writing = re.compile(r"sys\.std(?:out|err)\.write|\bprint\(")
    found = {
        file.name
        for file in (ROOT / "fedtheory").rglob("*.py")
        for line in file.read_text(encoding="utf-8").splitlines()
        if writing.search(line.split("#")[0]) and not line.strip().startswith((">>>", "..."))
    }
    assert found == known


@pytest.mark.parametrize(
    "words", [["list"], ["show", "mine:half"], ["verify"], ["hunt", "mine:half", "--evaluations=9"]]
)
def test_a_claim_of_somebody_else_does_not_steer_the_terminal(
    tmp_path: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own.py").write_text(OWN, encoding="utf-8")
    main([*words, f"--from={tmp_path / 'own.py'}"])
    said = "".join(capsys.readouterr())
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", said)
    assert "\\x1b" in said


def test_a_table_on_a_terminal_does_not_show_what_steers_it(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(shown, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdout", shown)
    show_table([{STEERING: STEERING, "n": 1}], title=STEERING, caption=STEERING)
    assert not re.search("[\x07\u202e]|\x1b[]]|\x1b\\[2J", shown.getvalue())
    assert r"\x1b]0;owned" in shown.getvalue()


def test_the_summary_of_a_run_from_somebody_else_does_not_steer_the_terminal() -> None:
    text = plain(STEERING)
    assert Summary(f"Run {STEERING}", {"strategy": STEERING}).text == f"Run {text}\n  strategy  {text}"


WIDE = [
    {"K": str(30 + row // 2), "m": "3", "d": str(row), "rounds until the loss is halved": "7" * 9, "bound": f"b{row}"}
    for row in range(4)
]


@pytest.mark.parametrize("width", [16, 20, 25, 27])
def test_blocks_are_no_wider_than_lines_and_show_each_column_once_beside_those_that_tell_rows_apart(width: int) -> None:
    lines = list(in_blocks(WIDE, {"K", "m", "d"}, width))
    assert max(map(len, lines)) <= width
    blocks = [block.split("\n") for block in "\n".join(lines).split("\n\n")]
    # Of K, m and d the last one is enough.
    assert all([line.split()[0] for line in block[-4:]] == ["0", "1", "2", "3"] for block in blocks)
    entries = " ".join(word for block in blocks for line in block[-4:] for word in line.split()[1:])
    assert sorted(entries.split()) == sorted(row[name] for row in WIDE for name in row if name != "d")


def test_a_table_that_fits_is_not_folded() -> None:
    [heading, *rows] = in_blocks(WIDE, {"K"}, 49)
    assert heading == " K  m  d  rounds until the loss is halved  bound"
    assert [row.split() for row in rows] == [list(row.values()) for row in WIDE]
    assert len(list(in_blocks(WIDE, {"K"}, len(heading)))) == len(WIDE) + 1
    assert len(list(in_blocks(WIDE, {"K"}, len(heading) - 1))) > len(WIDE) + 1


def test_columns_that_cannot_tell_rows_apart_are_not_repeated_but_for_the_first_one() -> None:
    rows = [{"a": "1", "b": "2" * 9, "c": "3" * 9}] * 2
    assert [line.split() for line in in_blocks(rows, set(), 12)] == [
        ["a", "b"], *[["1", "2" * 9]] * 2, [], ["a", "c"], *[["1", "3" * 9]] * 2,
    ]  # fmt: skip


def test_a_single_column_that_is_wider_than_the_lines_is_shown_all_the_same() -> None:
    assert list(in_blocks([{"x": "a" * 20}, {"x": "b"}], set(), 10)) == ["x", "a" * 20, "b"]


def test_a_study_on_a_terminal_is_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(shown, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdout", shown)
    monkeypatch.setenv("COLUMNS", "40")
    show_blocks(WIDE, title="a title " * 9, caption=f"a caption {STEERING} " * 9)
    assert max(map(len, shown.getvalue().splitlines())) <= 40
    assert "\x07" not in shown.getvalue()
