"""Edge cases of commands: Ctrl-C before a result, numbers beyond doubles, closed pipes."""

import os
import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from fedtheory.__main__ import main, run
from fedtheory.cli import progress
from fedtheory.cli.documents import numbers

LEMMA = "power-of-choice:lemma-b1"


def raising(error: BaseException) -> Any:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    return fail


def test_control_c_before_the_first_verdict_shows_no_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "live_progress", raising(KeyboardInterrupt()))
    assert main(["verify", LEMMA]) == 130
    shown = capsys.readouterr()
    assert shown.err.endswith("interrupted after 0 of 1 claims\n")
    assert "verdict" not in shown.out


def test_control_c_before_the_first_instance_shows_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "live_progress", raising(KeyboardInterrupt()))
    assert main(["hunt", LEMMA]) == 130
    shown = capsys.readouterr()
    assert (shown.out, shown.err.splitlines()[-1]) == ("", "interrupted after 0 instances")


def test_what_ends_the_processes_of_a_verification_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "live_progress", raising(RuntimeError("a process was killed")))
    assert main(["verify", LEMMA]) == 1
    assert capsys.readouterr().err == "RuntimeError: a process was killed\n"


def test_fractions_beyond_all_doubles_are_infinite_in_a_document() -> None:
    told = numbers({"up": Fraction(10) ** 400, "down": -(Fraction(10) ** 400), "half": Fraction(1, 2), "n": 3})
    assert told["values"] == {"up": "inf", "down": "-inf", "half": 0.5, "n": 3.0}
    assert set(told["exact"]) == {"up", "down"}


def test_a_bound_beyond_all_doubles_is_shown_exactly(capsys: pytest.CaptureFixture[str]) -> None:
    far = f"1{400 * '0'}"
    command = ["bound", "power_of_choice.gradient_norm", "--excess", f"{far}/3", "--L", "2/1"]
    assert main(command) == 0
    assert f"4{far[1:]}/3 = inf" in "".join(capsys.readouterr().out.split("\n")).replace("  ", " ")
    assert main([*command, "--json"]) == 0
    assert '"total": "inf"' in capsys.readouterr().out


@pytest.mark.parametrize("seed", ["0", "3"])
def test_a_report_begins_with_what_makes_it_again_and_where_it_was_made(tmp_path: Path, seed: str) -> None:
    page = tmp_path / "page.html"
    assert main(["verify", LEMMA, "--seed", seed, "--instances", "4", "--report", str(page)]) == 0
    header = page.read_text(encoding="utf-8").partition("</header>")[0]
    told = dict(re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", header))
    machine = ["platform", "processor", "num processors", "python"]
    assert list(told) == ["fedtheory", "date", "seed", "budget", "instances", *machine]
    assert (told["seed"], told["instances"]) == (seed, "4")


@pytest.mark.parametrize("code", [0, 1, 130])
def test_a_process_leaves_with_the_code_of_its_command(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    monkeypatch.setattr("fedtheory.__main__.main", lambda: code)
    with pytest.raises(SystemExit) as ended:
        run()
    assert ended.value.code == code


def test_what_is_left_for_a_closed_pipe_goes_nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    moved = []
    monkeypatch.setattr("fedtheory.__main__._run", raising(BrokenPipeError()))
    monkeypatch.setattr("os.dup2", lambda one, other: moved.append((os.fstat(one).st_rdev, other)))
    monkeypatch.setattr(sys, "stdout", (tmp_path / "out").open("w", encoding="utf-8"))
    with sys.stdout as out:
        assert main(["list"]) == 0
        assert moved == [(Path(os.devnull).stat().st_rdev, out.fileno())]
