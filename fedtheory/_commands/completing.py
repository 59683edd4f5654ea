"""``completion``: what a shell offers after Tab.

Names are read in source files, since importing these takes a second.
"""

import argparse
import ast
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = [
    "bound_names",
    "claim_keys",
    "complete",
    "is_asked",
    "kinds",
    "papers",
    "parameters",
    "write_script",
]

_HOUSE = Path(__file__).parent.parent
# Keys stand in claims as plain words, "paper:name", whether a decorator or a loop makes the claim.
_KEY = re.compile(r'"([a-z][a-z0-9-]*:[a-z0-9.-]+)"')
_BOUND = re.compile(r"^@states\(.*?^def (\w+)\(", re.MULTILINE | re.DOTALL)


def write_script(arguments: argparse.Namespace) -> int:
    """Write the script by which a shell asks this program what to offer."""
    from argcomplete.shell_integration import shellcode

    sys.stdout.write(shellcode(["fedtheory"], shell=arguments.shell))
    return 0


def is_asked() -> bool:
    """Whether a shell asks, by the variable that its script sets."""
    return "_ARGCOMPLETE" in os.environ


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer the shell and end the process."""
    from argcomplete import autocomplete

    autocomplete(parser, always_complete_options=False)


def claim_keys() -> list[str]:
    """Return the keys of all claims, in the order of the alphabet."""
    return sorted({key for file in (_HOUSE / "claims").rglob("*.py") for key in _KEY.findall(_text(file))})


def bound_names() -> list[str]:
    """Return the names of all bounds, in the order of the alphabet."""
    return sorted(name for name, _, _ in _bounds())


def papers() -> list[str]:
    """Return the keys of all papers, the first parts of those of their claims."""
    return sorted({key.partition(":")[0] for key in claim_keys()})


def _bounds() -> Iterator[tuple[str, Path, str]]:
    folder = _HOUSE / "bounds"
    for file in folder.rglob("*.py"):
        paper = file.relative_to(folder).parts[0].removesuffix(".py")
        yield from (
            (f"{paper}.{function}", file, function)
            for function in _BOUND.findall(_text(file))
            if not function.startswith("_")
        )


def parameters() -> list[str]:
    """Return the options of the bound that stands on the line for which a shell asks, if one does."""
    words = os.environ.get("COMP_LINE", "").split()
    for name, file, function in _bounds():
        if name in words:
            [found] = [
                node
                for node in ast.parse(_text(file)).body
                if isinstance(node, ast.FunctionDef) and node.name == function
            ]
            return [f"--{one.arg.replace('_', '-')}" for one in [*found.args.args, *found.args.kwonlyargs]]
    return []


def kinds() -> list[str]:
    """Return the kinds of claims."""
    tree = ast.parse(_text(_HOUSE / "verification" / "claims.py"))
    values = [
        node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "KINDS"
    ]
    return [str(kind) for value in values for kind in ast.literal_eval(value)]


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")
