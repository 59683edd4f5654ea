"""Every command line in the documentation is valid, and every call in a table can be made."""

import contextlib
import functools
import importlib.util
import io
import re
import shlex
from typing import Any

import pytest

import fedtheory as ft
from fedtheory.__main__ import main
from fedtheory.study import scripts
from tests.environment import ROOT
from tests.quick_studies import SCRIPTS, loaded

DOCS = {str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md")}
# The changelog names commands that were removed.
PAGES = ["README.md", "CONTRIBUTING.md", *sorted(DOCS - {"docs/changelog.md"})]
STUDIES = [str(script.relative_to(ROOT)) for script in SCRIPTS]
COMMAND = re.compile(r"(?:python (?:-m (?:fedtheory|docs|tests)\b|studies/)|fedtheory [a-z])[^\n|>#]*")
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


def commands(text: str) -> list[str]:
    """Command lines of a page: those of its ``sh`` blocks, in code within sentences, and in literal blocks."""
    joined = re.sub(r"\\\n\s*", " ", text)
    lines = [line for kind, block in FENCED.findall(joined) if kind == "sh" for line in block.splitlines()]
    rest = FENCED.sub("", joined)
    lines += [" ".join(code.split()) for code in re.findall(r"`+([^`]+)`+", rest)]
    lines += re.findall(r"^ {4}(python .+)$", rest, flags=re.MULTILINE)
    found = [COMMAND.match(part.strip()) for line in lines for part in line.split("&&")]
    return list(dict.fromkeys(match[0].strip() for match in found if match))


def fault(command: str, page: str = "") -> str:
    """What a program does not understand of a command, or nothing."""
    words = shlex.split(command.removeprefix("python "))
    if words[0].startswith("studies/"):
        return fault_of_study(words[0], words[1:], page)
    if words[0] == "-m" and words[1] != "fedtheory":
        return "" if importlib.util.find_spec(words[1]) else f"{words[1]} is no module"
    return fault_of_command(words[2:] if words[0] == "-m" else words[1:], page)


def fault_of_study(script: str, words: list[str], page: str) -> str:
    """Parse the options of a study; a script that the page itself shows, or a helper, is only looked for."""
    if not (ROOT / script).is_file():
        return "" if f"# {script}" in page else f"{script} is no file"
    if not script.startswith("studies/_"):
        try:
            scripts._parsed(loaded(script.removeprefix("studies/").removesuffix(".py")), words)
        except (ValueError, SystemExit) as error:
            return "" if isinstance(error, SystemExit) and not error.code else str(error)
    return ""


def fault_of_command(words: list[str], page: str) -> str:
    """Look for the options in the help of the command; a bound that the page itself adds has none yet."""
    added = tuple(f".{name}" for name in re.findall(r"^def (\w+)\(", page, flags=re.MULTILINE))
    if not words or words[0].startswith("-") or (words[1:2] and words[1].endswith(added)):
        return ""
    # Each study has other options.
    known = help_of(*words[:2]) if words[0] == "study" and len(words) > 1 else help_of(words[0])
    unknown = [word for word in words[1:] if word.startswith("--") and word.partition("=")[0] not in known]
    return f"no {', '.join(unknown)}" if unknown else ("" if known else f"{words[0]} is no command")


@functools.cache
def help_of(*words: str) -> frozenset[str]:
    """Options that the help of a command names, none where there is no such command; NAME and KEY stand for any."""
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(SystemExit):
        main([*(word for word in words if not word.isupper()), "--help"])
    return frozenset([*re.findall(r"--[\w-]+", shown.getvalue()), "--help"]) if shown.getvalue() else frozenset()


@pytest.mark.parametrize("name", [*PAGES, *STUDIES])
def test_every_command_is_understood(name: str) -> None:
    page = (ROOT / name).read_text(encoding="utf-8")
    assert {command: fault(command, page) for command in commands(page) if fault(command, page)} == {}


def test_commands_that_do_not_exist_are_seen() -> None:
    block = "```sh\npython studies/error_floor.py --quick && \\\n  fedtheory verify --paper fedalign\n```\n"
    assert commands(block) == ["python studies/error_floor.py --quick", "fedtheory verify --paper fedalign"]
    assert [fault(command) for command in commands(block)] == ["", ""]
    assert fault("python studies/error_floor.py --output here")
    assert fault("python studies/no_such.py") == "studies/no_such.py is no file"
    assert fault("fedtheory verify --papers fedalign") == "no --papers"
    assert fault("python -m docs.no_such") == "docs.no_such is no module"


LETTERS: dict[str, Any] = {
    "m": 2, "M": 2, "d": 3, "N": 4, "x": 0.5, "E": 5, "B": 2, "sigma": 0.1, "threshold": 0.2,
    "sample_counts": [5, 6, 7, 8], "priority": [True, False], "shares": [1.0, 1.0], "labels": [0, 1] * 200,
    "fedavg": dict,  # whose arguments alone are tried
    "strategy": ft.selection.Uniform(2), "availability": ft.selection.AlternatingGroups(0.1),
}  # fmt: skip


@pytest.mark.parametrize("page", ["docs/howto/cheat_sheet.md", "docs/theory/greedyfed.md"])
def test_every_call_in_a_table_can_be_made(page: str) -> None:
    places = (ft.selection, ft.engine, ft.datasets)
    names = {
        name: getattr(place, name) for place in places for name in dir(place) if not name.startswith("_")
    } | LETTERS
    cells = re.findall(r"^\|.*\|$", (ROOT / page).read_text(encoding="utf-8"), flags=re.MULTILINE)
    calls = [code for cell in cells for code in re.findall(r"`(\w+\([^`]*\))`", cell) if "=)" not in code]
    made = [eval(code, names) for code in calls if code.partition("(")[0] in names]
    assert len(made) > 4
