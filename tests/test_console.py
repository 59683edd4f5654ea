"""Tables in a console have at most its width."""

import io
import re
import sys
import types
from pathlib import Path

import pytest

from fedtheory.__main__ import main
from fedtheory._support.console import show_table
from fedtheory._support.summary import Summary
from fedtheory._support.wording import plain


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


def test_a_table_in_a_pipe_is_not_folded(capsys: pytest.CaptureFixture[str]) -> None:
    show_table([*WIDE, {**WIDE[0], "bound": "b" * 200}], title="a title")
    title, heading, *rows = capsys.readouterr().out.splitlines()
    assert (title, len(rows)) == ("a title", 5)
    assert heading == "K   m  d  rounds until the loss is halved  bound"
    assert [row.split() for row in rows[:4]] == [list(row.values()) for row in WIDE]


def test_a_study_on_a_terminal_is_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(shown, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdout", shown)
    monkeypatch.setenv("COLUMNS", "40")
    show_table(WIDE, title="a title " * 9, caption=f"a caption {STEERING} " * 9)
    assert max(map(len, re.sub(r"\x1b\[[0-9;]*m", "", shown.getvalue()).splitlines())) <= 40
    assert "\x07" not in shown.getvalue()
