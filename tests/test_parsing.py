"""Parsing of the command line: defaults agree with the help, and invalid values are rejected."""

import argparse
import re
from pathlib import Path
from typing import Any

import pytest

from fedtheory.cli.parsing import parser_of_commands

LEAST = {"show": ["k"], "hunt": ["k"], "check": ["f"]}


def commands() -> dict[str, argparse.ArgumentParser]:
    [action] = [action for action in parser_of_commands()._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(action.choices)


def parsed(line: str) -> dict[str, Any]:
    found = vars(parser_of_commands().parse_args(line.split()))
    return {name: value for name, value in found.items() if name not in ("own", "command")}


def test_a_default_is_the_one_that_the_help_names() -> None:
    named = 0
    for name, command in commands().items():
        given = parser_of_commands().parse_args([name, *LEAST.get(name, [])])
        for action in command._actions:
            told = re.search(r"\(default ([\w.]+)\)|^(\w+) \(default\)", action.help or "")
            if told:
                assert f"{getattr(given, action.dest):g}" if told[1] else getattr(given, action.dest) in told.groups()
                named += 1
    assert named == 5


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("list", {"pattern": [], "setting": None, "source": None, "json": False}),
        ("show k", {"key": "k", "source": None, "seed": 0, "instance": None, "latex": False, "json": False}),
        ("bound", {"name": None, "printed": False, "loose": False, "source": None, "json": False, "help": False}),
        ("worst", {"name": None, "instance": None, "force": False, "json": False, "source": None, "help": False}),
        (
            "verify",
            {"keys": [], "budget": "quick", "instances": None, "paper": None, "kind": None, "jobs": 1, "source": None}
            | {"hunt": 5.0, "seed": 0, "json": None, "report": None, "force": False},
        ),
        (
            "hunt k",
            {"key": "k", "seconds": 30.0, "evaluations": None, "source": None, "seed": 0, "jobs": 1, "json": False},
        ),
    ],
)  # fmt: skip
def test_what_is_not_asked_for_is_not_done(line: str, wanted: dict[str, Any]) -> None:
    assert parsed(line) == wanted


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("list p --json --from f", {"pattern": ["p"], "setting": None, "source": "f", "json": True}),
        ("list --for convex uniform", {"pattern": [], "setting": ["convex", "uniform"], "source": None, "json": False}),
        ("bound --help --loose --printed", {"name": None, "printed": True, "loose": True, "json": False, "help": True}),
        ("worst -h n --force --instance f", {"name": "n", "instance": Path("f"), "force": True, "help": True}),
        ("verify a b --budget 0.5 --report r --json -", {"keys": ["a", "b"], "budget": 0.5, "report": Path("r")}),
        ("verify --budget thorough --kind k --paper p", {"budget": "thorough", "kind": "k", "paper": "p"}),
        ("verify --instances 3 --jobs 5 --seed 7", {"instances": 3, "jobs": 5, "seed": 7}),
        ("hunt k --seconds 2.5 --evaluations 3 --seed 5 --jobs 7", {"seconds": 2.5, "evaluations": 3, "seed": 5}),
        ("show k --seed 3 --instance 7 --json", {"seed": 3, "instance": 7, "json": True}),
    ],
)
def test_what_is_asked_for_is_read(line: str, wanted: dict[str, Any]) -> None:
    found = parsed(line)
    assert {name: found[name] for name in wanted} == wanted


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("verify --budget 0", "must be quick, thorough or seconds above 0, got '0'"),
        ("verify --budget inf", "must be quick, thorough or seconds above 0, got 'inf'"),
        ("verify --budget -3", "must be quick, thorough or seconds above 0, got '-3'"),
        ("verify --budget slowly", "must be quick, thorough or seconds above 0, got 'slowly'"),
        ("show k --latex --json", "not allowed with argument --latex"),
        ("--vers", "the following arguments are required: COMMAND"),  # no beginning stands for an option
        ("hunt", "the following arguments are required: KEY"),
        ("verify --instance 3", "unrecognized arguments: --instance"),
    ],
)
def test_what_is_no_value_is_refused(line: str, complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        parser_of_commands().parse_args(line.split())
    assert left.value.code == 2
    assert complaint in capsys.readouterr().err
