"""Edges of the commands: Ctrl-C before anything is found, disks that are full, what a shell offers where."""

import argparse
import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from fractions import Fraction
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fedtheory.__main__ import _end_processes, main, run
from fedtheory._commands import background, completing
from fedtheory._commands.documents import numbers
from fedtheory._commands.evaluating import bound_help
from fedtheory._commands.parsing import parser_of_commands
from fedtheory.verification import catalogue
from fedtheory.verification.claims import KINDS
from tests.environment import ROOT

LEMMA = "power-of-choice:lemma-b1"


def raising(error: BaseException) -> Any:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    return fail


def test_control_c_before_the_first_verdict_shows_no_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(background, "in_background", raising(KeyboardInterrupt()))
    assert main(["verify", LEMMA]) == 130
    shown = capsys.readouterr()
    assert shown.err.endswith("interrupted after 0 of 1 claims\n")
    assert "verdict" not in shown.out


def test_control_c_before_the_first_instance_shows_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(background, "in_background", raising(KeyboardInterrupt()))
    assert main(["hunt", LEMMA]) == 130
    shown = capsys.readouterr()
    assert (shown.out, shown.err.splitlines()[-1]) == ("", "interrupted after 0 instances")


@pytest.mark.parametrize("option", ["--seconds", "--jobs", "--evaluations"])
def test_a_hunt_needs_something_of_everything(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["hunt", LEMMA, option, "0"])
    assert f"{option} must be above 0, got 0" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["hunt", LEMMA, "--seed", "-1"])
    assert "--seed must be at least 0, got -1" in capsys.readouterr().err


def test_what_takes_longer_than_a_glance_is_waited_for_in_a_thread_with_a_deep_stack() -> None:
    before, seen = threading.stack_size(), []

    def slowly() -> Any:
        for number in (3, 5):
            time.sleep(0.15)
            seen.append(threading.current_thread().daemon)
            yield number

    assert list(background.in_background(slowly())) == [3, 5]
    assert seen == [True, True]
    assert threading.stack_size() == before


def test_what_runs_in_the_background_stops_at_the_next_item_where_nobody_waits_any_more() -> None:
    before, seen = set(threading.enumerate()), list[int]()

    def endless() -> Iterator[int]:
        for number in count():
            time.sleep(0.001)
            seen.append(number)
            yield number

    listening = background.in_background(endless())
    assert next(listening) == 0
    [thread] = set(threading.enumerate()) - before
    listening.close()
    last = len(seen)
    thread.join(timeout=10)
    assert not thread.is_alive()
    assert len(seen) <= last + 1


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


def commands() -> dict[str, argparse.ArgumentParser]:
    """Parsers of the commands, by name."""
    [action] = [action for action in parser_of_commands()._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(action.choices)


def offers(command: str) -> dict[str, list[str]]:
    """What a shell is offered for each argument of a command."""
    at = argparse.Namespace()
    with_some = [action for action in commands()[command]._actions if hasattr(action, "completer")]
    return {action.dest: action.completer(parsed_args=at) for action in with_some}


def test_each_argument_is_offered_what_it_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    claims, bounds = sorted(catalogue.known_claims()), sorted(catalogue.known_bounds())
    assert offers("list") == {"pattern": [*claims, *bounds]}
    assert offers("show") == {"key": [*claims, *bounds]}
    assert offers("hunt") == offers("replay") == {"key": claims}
    assert offers("bound") == offers("worst") == {"name": bounds}
    papers = sorted({key.split(":")[0] for key in claims})
    assert offers("verify") == {"keys": claims, "paper": papers, "kind": list(KINDS)}
    monkeypatch.setenv("COMP_LINE", "fedtheory bound nothing")
    assert completing.parameters() == []
    assert offers("completion") == {}


def test_a_shell_is_answered_with_the_options_of_the_bound_on_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    answered: list[Any] = []
    monkeypatch.setattr("argcomplete.autocomplete", lambda parser, **options: answered.append((parser, options)))
    monkeypatch.setenv("COMP_LINE", "fedtheory bound power_of_choice.gradient_norm --")
    parser = parser_of_commands()
    completing.complete(parser)
    assert answered == [(parser, {"always_complete_options": False})]
    assert completing.is_asked() is False
    assert not any("--excess" in command._option_string_actions for command in commands().values())
    monkeypatch.setenv("_ARGCOMPLETE", "1")
    assert completing.is_asked() is True
    for name, command in commands().items():
        assert ("--excess" in command._option_string_actions) is (name in ("bound", "worst"))


@pytest.mark.parametrize("seed", ["0", "3"])
def test_a_report_begins_with_what_makes_it_again_and_where_it_was_made(tmp_path: Path, seed: str) -> None:
    page = tmp_path / "page.html"
    assert main(["verify", LEMMA, "--seed", seed, "--instances", "4", "--report", str(page)]) == 0
    header = page.read_text(encoding="utf-8").partition("</header>")[0]
    told = dict(re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", header))
    machine = ["platform", "processor", "num processors", "python"]
    assert list(told) == ["fedtheory", "date", "seed", "budget", "instances", *machine]
    assert (told["seed"], told["instances"]) == (seed, "4")


def test_the_help_on_every_bound_fits_a_terminal_and_tears_no_word_at_its_hyphen(
    capsys: pytest.CaptureFixture[str],
) -> None:
    known = catalogue.known_bounds()
    for name, bound in known.items():
        bound_help("bound", name, bound)
    # Names of parameters stand on a line of their own, and the call in one piece.
    lines = [line for line in capsys.readouterr().out.splitlines() if "--" not in line]
    assert len(lines) > 10 * len(known)
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if re.search(r"\w-$", line)] == []
    assert any(re.search(r"\w-\w", line) for line in lines)


def test_whoever_presses_ctrl_c_waits_for_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def executor(**options: bool) -> Any:
        asked.append(options)
        return SimpleNamespace(shutdown=lambda **more: asked.append(more))

    for name in ("joblib", "joblib.externals", "joblib.externals.loky"):
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(get_reusable_executor=executor))
    _end_processes()
    assert asked == [{"kill_workers": True}] * 2
    monkeypatch.delitem(sys.modules, "joblib")
    _end_processes()
    assert len(asked) == 2


@pytest.mark.parametrize("code", [0, 1, 130])
def test_a_process_leaves_with_the_code_of_its_command(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    left = []

    def leave(given: int) -> None:
        left.append(given)
        raise SystemExit("at once")

    monkeypatch.setattr("fedtheory.__main__.main", lambda: code)
    monkeypatch.setattr("os._exit", leave)
    with pytest.raises(SystemExit) as ended:
        run()
    assert (ended.value.code, left) == (("at once", [130]) if code == 130 else (code, []))


def test_what_is_left_for_a_closed_pipe_goes_nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    moved = []
    monkeypatch.setattr("fedtheory.__main__._run", raising(BrokenPipeError()))
    monkeypatch.setattr("os.dup2", lambda one, other: moved.append((os.fstat(one).st_rdev, other)))
    monkeypatch.setattr(sys, "stdout", (tmp_path / "out").open("w", encoding="utf-8"))
    with sys.stdout as out:
        assert main(["list"]) == 0
        assert moved == [(Path(os.devnull).stat().st_rdev, out.fileno())]
