"""Tables in a console have at most its width."""

import io
import re
import sys
from pathlib import Path

import pytest

from fedtheory.__main__ import main
from fedtheory._support.console import show_table

STEERING = "\x1b]0;owned\x07\x1b[2J\u202etxt.exe"
OWN = f"""
from fedtheory.theorem.paper import Paper, Statement
from fedtheory.verification import at_most, claim

STATEMENT = Statement(Paper("mine", {STEERING!r}, "Me", 2026), {STEERING!r})

@claim("mine:half", {STEERING!r}, STATEMENT, looseness=2)
def half(rng):
    return at_most(float(rng.random()), 0.5)
"""


@pytest.mark.parametrize("words", [["list"], ["show", "mine:half"], ["verify"]])
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
