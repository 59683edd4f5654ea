"""The code in the README and the documentation runs, prints what is shown, and refers to existing names."""

import contextlib
import doctest
import io
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.environment import ROOT

PAGES = [
    "README.md",
    "docs/tutorial.md",
    "docs/command_line.md",
    "docs/own_theorem.md",
    "docs/saving.md",
    "docs/sweeps.md",
    "docs/million.md",
    "docs/index.md",
    *(
        f"docs/howto/{page}.md"
        for page in (
            "own_data",
            "own_method",
            "own_strategy",
            "own_loss",
            "own_study",
            "equal_communication",
            "latex",
            "notebook",
            "cheat_sheet",
        )
    ),
    "docs/api/conformance.md",
    *(f"docs/theory/{page}.md" for page in ("rounding", "verdicts", "softmax", "worst_cases", "greedyfed")),
]
# Its blocks are files of the library: tests/test_adding.py puts them into a copy.
CONTRIBUTING = "docs/contributing.md"


class Block(NamedTuple):
    """A fenced block: its language, its text, and the line it starts on."""

    language: str
    text: str
    line: int


def blocks(page: str) -> list[Block]:
    """Fenced blocks of a Markdown text."""
    found = re.finditer(r"^```([\w+-]*)\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    return [Block(match[1], match[2], page[: match.start()].count("\n") + 1) for match in found]


def run(page: str, folder: Path, *, alone: bool = False) -> Iterator[str]:
    """Run a page's Python blocks in order, in one namespace or each alone, and yield what differs from the page.

    A ``text`` block right after a ``python`` block is what that prints; ``pycon`` blocks are doctests.
    """
    namespace: dict[str, Any] = {}
    printed = None
    for block in blocks(page):
        if block.language == "python":
            # A file of its own, since numba and inspect look for the source of what they are given.
            script = folder / f"line_{block.line}.py"
            script.write_text(block.text, encoding="utf-8")
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                ran = runpy.run_path(str(script), init_globals=namespace)
            if not alone:
                namespace |= {name: value for name, value in ran.items() if not name.startswith("__")}
            printed = output.getvalue()
        elif block.language == "pycon":
            report = io.StringIO()
            test = doctest.DocTestParser().get_doctest(block.text, namespace, "page", None, block.line)
            if doctest.DocTestRunner(verbose=False).run(test, out=report.write, clear_globs=False).failed:
                yield report.getvalue()
            namespace |= test.globs
        elif block.language == "text" and printed is not None:
            if printed != block.text:
                yield f"line {block.line} says\n{block.text}but this is printed\n{printed}"
            printed = None


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PAGES)
def test_every_python_block_runs_and_prints_what_the_page_says(name: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)  # where pages save their pictures
    # A reader of README pastes one program.
    assert list(run(read(name), tmp_path, alone=name == "README.md")) == []


def test_every_program_of_readme_begins_with_the_import_of_the_library() -> None:
    programs = [block.text for block in blocks(read("README.md")) if block.language == "python"]
    assert len(programs) > 4
    assert [text for text in programs if not text.startswith("import fedtheory as ft\n")] == []


OTHERS = (
    *("theory/power_of_choice", "theory/claims", "reproduction", "lessons", "comparison"),
    *("howto/index", "howto/flower", "terms"),
)


@pytest.mark.parametrize("name", [*PAGES, CONTRIBUTING, *(f"docs/{page}.md" for page in OTHERS)])
def test_every_link_and_picture_leads_somewhere(name: str) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[\w-]*)?\)", read(name))
    made_by_the_build = re.compile(r"(\.\./)?(gallery/\w+\.rst|_static/made/.*)")
    local = [target for target in targets if not target.startswith("http") and not made_by_the_build.fullmatch(target)]
    assert [target for target in local if not ((ROOT / name).parent / target).exists()] == []


WRONG = {
    "an output": "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n",
    "a doctest": "```python\nx = 2\n```\n\n```pycon\n>>> x + 0\n3\n```\n",
}


@pytest.mark.parametrize("what", WRONG)
def test_what_a_page_says_wrongly_is_seen(what: str, tmp_path: Path) -> None:
    assert len(list(run(WRONG[what], tmp_path))) == 1
    assert list(run(WRONG[what].replace("3", "2"), tmp_path)) == []


def test_programs_that_fail_or_do_not_run_alone_are_seen(tmp_path: Path) -> None:
    page = "```python\nx = 2\n```\n\n```python\nprint(x)\n```\n\n```text\n2\n```\n"
    assert list(run(page, tmp_path)) == []
    with pytest.raises(NameError):
        list(run(page, tmp_path, alone=True))
