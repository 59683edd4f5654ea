"""``completion``: what a shell offers after Tab.

Names are read in source files, since importing these takes a second.
"""

import argparse
import ast
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from fedtheory._commands.studying import names_of_studies

__all__ = ["complete", "is_asked", "write_script"]

_HOUSE = Path(__file__).parent.parent
# Keys stand in claims as plain words, "paper:name", whether a decorator or a loop makes the claim.
_KEY = re.compile(r'"([a-z][a-z0-9-]*:[a-z0-9.-]+)"')
_BOUND = re.compile(r"^@states\(.*?^def (\w+)\(", re.MULTILINE | re.DOTALL)


def write_script(shell: str) -> int:
    """Write the script by which a shell asks this program what to offer."""
    from argcomplete.shell_integration import shellcode

    sys.stdout.write(shellcode(["fedtheory"], shell=shell))
    return 0


def is_asked() -> bool:
    """Whether a shell asks, by the variable that its script sets."""
    return "_ARGCOMPLETE" in os.environ


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer the shell and end the process."""
    from argcomplete import autocomplete

    words = os.environ.get("COMP_LINE", "").split()
    for name, command in _commands_of(parser):
        _offer(name, command)
        if name in ("bound", "worst"):
            for option in _parameters(words):
                command.add_argument(option)
    autocomplete(parser, always_complete_options=False)


def _commands_of(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def _offer(name: str, command: argparse.ArgumentParser) -> None:
    """Say what the arguments of a command may be: argcomplete reads an attribute of theirs."""
    offers: dict[str, Callable[..., list[str]]] = {
        "key": lambda **_: [*claim_keys(), *(bound_names() if name == "show" else [])],
        "keys": lambda **_: claim_keys(),
        "pattern": lambda **_: [*claim_keys(), *bound_names()],
        "name": lambda **_: list(names_of_studies()) if name == "study" else bound_names(),
        "paper": lambda **_: sorted({key.partition(":")[0] for key in claim_keys()}),
        "kind": lambda **_: _kinds(),
        "study": lambda **_: study_files(),
        "settings": lambda parsed_args, **_: [f"{name}=" for name in _fields(Path(parsed_args.study))],
    }
    for action in command._actions:
        if action.dest in offers:
            action.completer = offers[action.dest]  # type: ignore[attr-defined]


def claim_keys() -> list[str]:
    """Return the keys of all claims, in the order of the alphabet."""
    return sorted({key for file in (_HOUSE / "claims").rglob("*.py") for key in _KEY.findall(_text(file))})


def bound_names() -> list[str]:
    """Return the names of all bounds, in the order of the alphabet."""
    return sorted(name for name, _, _ in _bounds())


def study_files() -> list[str]:
    """Return the studies below the working directory."""
    return [str(file) for file in sorted(Path().glob("studies/[!_]*.py"))]


def _bounds() -> Iterator[tuple[str, Path, str]]:
    folder = _HOUSE / "bounds"
    for file in folder.rglob("*.py"):
        paper = file.relative_to(folder).parts[0].removesuffix(".py")
        yield from (
            (f"{paper}.{function}", file, function)
            for function in _BOUND.findall(_text(file))
            if not function.startswith("_")
        )


def _parameters(words: list[str]) -> list[str]:
    """Return the options of the bound that stands on the line, if one does."""
    for name, file, function in _bounds():
        if name in words:
            [found] = [
                node
                for node in ast.parse(_text(file)).body
                if isinstance(node, ast.FunctionDef) and node.name == function
            ]
            return [f"--{one.arg.replace('_', '-')}" for one in [*found.args.args, *found.args.kwonlyargs]]
    return []


def _kinds() -> list[str]:
    tree = ast.parse(_text(_HOUSE / "verification" / "claims.py"))
    values = [
        node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "KINDS"
    ]
    return [str(kind) for value in values for kind in ast.literal_eval(value)]


def _fields(study: Path) -> list[str]:
    """Return the parameters of a study: the fields of its ``Config``."""
    tree = ast.parse(_text(study)) if study.is_file() else ast.Module([], [])
    configs = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Config"]
    lines = [line for config in configs for line in config.body]
    return [ast.unparse(line.target) for line in lines if isinstance(line, ast.AnnAssign)]


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")
