"""``study``: run a study of the library."""

import argparse
import ast
from pathlib import Path

import fedtheory as ft
from fedtheory._support.console import say
from fedtheory.cli.refusals import one_of

__all__ = ["folder_of_studies", "names_of_studies", "run_study"]

_LIBRARY = Path(__file__).parent.parent


def run_study(arguments: argparse.Namespace) -> int:
    """Run a study with the given options, or list all studies."""
    files = names_of_studies()
    if arguments.name is None:
        width = max(map(len, files), default=0)
        say(*(f"{name:<{width}}  {_title(file)}" for name, file in files.items()))
        return 0
    name = one_of(arguments.name, tuple(files), "a study")
    ft.study.main(ft.study.read_study(str(files[name])), arguments.words)
    return 0


def folder_of_studies() -> Path:
    """Return the folder of the studies, in the installed library or in a checkout."""
    installed = _LIBRARY / "studies"
    return installed if installed.is_dir() else _LIBRARY.parent / "studies"


def names_of_studies() -> dict[str, Path]:
    """Return the files of all studies by their names."""
    return {file.stem: file for file in sorted(folder_of_studies().glob("[!_]*.py"))}


def _title(file: Path) -> str:
    """Return the title of a study, the first line of text in its docstring."""
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return next((line for line in text.splitlines() if line.strip("= ")), "")
