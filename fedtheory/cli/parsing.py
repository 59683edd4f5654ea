"""The arguments of the commands, and their help.

Only ``argparse`` is imported, so that ``--help`` takes less than 0.1 s; an import of tyro alone takes longer.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from fedtheory import __version__
from fedtheory.cli.refusals import program

__all__ = ["parser_of_commands"]

Add = Callable[..., argparse.ArgumentParser]

_ABOUT = """\
fedtheory: theorems of federated optimization as functions and checked claims.

{program} COMMAND ...    (COMMAND --help shows details and examples)
"""


class _Parser(argparse.ArgumentParser):
    """A parser that fails if its help cannot be written."""

    def print_help(self, file: IO[str] | None = None) -> None:  # type: ignore[override]
        """Write the help, by default to standard output."""
        (file or sys.stdout).write(self.format_help())


class _Version(argparse.Action):
    """Prints the version and exits."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        sys.stdout.write(f"fedtheory {__version__}\n")
        parser.exit()


def parser_of_commands() -> argparse.ArgumentParser:
    """Return the parser; argparse's errors are one line without usage, which the help contains."""
    parser = _Parser(
        prog=program(),
        usage=argparse.SUPPRESS,
        description=_ABOUT.format(program=program()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--version", action=_Version, nargs=0, dest=argparse.SUPPRESS, default=argparse.SUPPRESS,
        help="show program's version number and exit",
    )  # fmt: skip
    add = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", title="commands").add_parser
    for command in (_list, _show, _verify, _hunt, _referee, _check, _study, _warm):
        command(add)
    return parser


def _added(add: Add, name: str, about: str, usage: str, *examples: str) -> argparse.ArgumentParser:
    """Add a command with its purpose, usage and examples."""
    lines = "\n".join(f"  {program()} {example}" for example in examples)
    return add(
        name,
        help=about,
        description=f"{about}\n\n{program()} {name} {usage}",
        epilog=f"examples:\n{lines}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage=argparse.SUPPRESS,
        prog=program(),
        allow_abbrev=False,
    )


def _list(add: Add) -> None:
    command = _added(
        add, "list", "list the bounds and the claims", "[PATTERN | --for WORD ...] [--from SOURCE]",
        "list", "list partial participation", "list 'fedavg.*'", "list --for non-convex independent stochastic",
    )  # fmt: skip
    command.add_argument(
        "pattern", nargs="*", default=[], metavar="PATTERN", help="words or part of a key or title, or a pattern with *"
    )
    command.add_argument(
        "--for", nargs="+", dest="setting", metavar="WORD",
        help="bounds that cover a setting, such as non-convex uniform",
    )  # fmt: skip
    _add_source(command)


def _show(add: Add) -> None:
    command = _added(
        add, "show", "show claims with their verdicts, or bounds with their formulas",
        "KEY [--from SOURCE] [--seed SEED [--instance N]] \\\n    [--latex]",
        "show power-of-choice:step-54-55",
        "show power-of-choice:lemma-b2 --seed 3 --instance 7",
        "show power_of_choice.client_drift --latex",
    )  # fmt: skip
    command.add_argument("key", metavar="KEY", help="key of a claim, name of a bound, prefix or pattern")
    _add_source(command)
    command.add_argument("--seed", type=int, default=0, help="seed of the instances (default 0)")
    command.add_argument("--instance", type=int, metavar="N", help="show instance N of the claim instead")
    command.add_argument("--latex", action="store_true", help="the formula only, in LaTeX")


def _verify(add: Add) -> None:
    command = _added(
        add, "verify", "verify claims; the exit code is 1 if a verdict is unexpected",
        "[KEY ...] [--from SOURCE] [--paper PAPER] \\\n    [--kind KIND] [--jobs N] [--seed SEED] \\\n"
        "    [--budget quick | thorough | SECONDS | --instances N] \\\n"
        "    [--hunt S] [--json FILE] [--report FILE.html] [--force]",
        "verify --paper power-of-choice --kind erratum",
        "verify --budget 300 --jobs 2",
        "verify '*:lemma-*' --instances 1000 --seed 7",
        "verify fedavg:lemma-4 --budget thorough --json -",
    )  # fmt: skip
    command.add_argument("keys", nargs="*", metavar="KEY", help="key, prefix or pattern; all claims by default")
    size = command.add_mutually_exclusive_group()
    size.add_argument(
        "--budget", type=_budget, default="quick", metavar="BUDGET",
        help="number of instances: quick, thorough, or seconds for all claims together",
    )  # fmt: skip
    size.add_argument(
        "--instances", type=int, metavar="N", help="check N applicable instances of each claim; draws up to 20 N"
    )
    command.add_argument("--paper", help="only claims of this paper, the first part of their keys")
    command.add_argument("--kind", help="only claims of this kind, such as inequality, erratum or 'refuted conjecture'")
    command.add_argument("--jobs", type=int, default=1, metavar="N", help="number of processes; it changes no verdict")
    _add_source(command)
    command.add_argument(
        "--hunt", type=float, default=5.0, metavar="S",
        help="with --from: also hunt, S seconds for all claims together, 0 for none (default 5)",
    )  # fmt: skip
    command.add_argument("--seed", type=int, default=0, help="seed of the instances (default 0)")
    command.add_argument(
        "--json", type=Path, metavar="FILE", help="also write JSON; - writes only JSON, to standard output"
    )
    command.add_argument("--report", type=Path, metavar="FILE.html", help="also write a page to read in a browser")
    command.add_argument("--force", action="store_true", help="overwrite the files")


def _hunt(add: Add) -> None:
    command = _added(
        add, "hunt", "search for a counterexample, and shrink it",
        "KEY [--from SOURCE] [--seconds S | --evaluations N] \\\n    [--seed SEED]",
        "hunt power-of-choice:theorem-3.1-refined --seconds 60",
        "hunt fedalign:theorem-1-as-printed --evaluations 2000",
    )  # fmt: skip
    command.add_argument("key", metavar="KEY", help="key of a claim")
    command.add_argument("--seconds", type=float, default=30.0, metavar="S", help="time to hunt (default 30)")
    command.add_argument("--evaluations", type=int, metavar="N", help="number of instances, in place of the time")
    _add_source(command)
    command.add_argument("--seed", type=int, default=0, help="seed of the hunt (default 0)")


def _referee(add: Add) -> None:
    command = _added(
        add, "referee", "review the theorem in a file, which is executed, and write a report",
        "FILE [--theorem NAME] [--out FOLDER] \\\n    [--seconds S] [--seed SEED]",
        "referee studies/theorems/fedlin.py", "referee mine.py --theorem one_step --out mine --seconds 600",
    )  # fmt: skip
    command.add_argument("file", type=Path, metavar="FILE", help="Python file with a bound and, best, its method")
    command.add_argument("--theorem", metavar="NAME", help="name of the bound, if the file has several")
    command.add_argument("--out", type=Path, metavar="FOLDER", help="folder of the report (default: FILE-review)")
    command.add_argument("--seconds", type=float, default=120.0, metavar="S", help="time for all (default 120)")
    command.add_argument("--seed", type=int, default=0, help="seed of instances and constants (default 0)")


def _check(add: Add) -> None:
    command = _added(
        add, "check", "check a saved certificate of a worst case", "FILE [--coq]",
        "check certificate.json", "check --coq certificate.json",
    )  # fmt: skip
    command.add_argument("file", type=Path, metavar="FILE", help="file written by worst.save")
    command.add_argument("--coq", action="store_true", help="have Coq check its upper side, as a formal theorem")


def _study(add: Add) -> None:
    command = _added(
        add, "study", "run one of the library's studies; without NAME, list them",
        "[NAME [OPTION ...]]    (NAME --help lists its options)",
        "study", "study bound_versus_error", "study error_floor --quick",
    )  # fmt: skip
    command.add_argument("name", nargs="?", metavar="NAME", help="name of the study, or a prefix of it")
    command.add_argument("words", nargs=argparse.REMAINDER, metavar="OPTION", help="options of the study")


def _warm(add: Add) -> None:
    _added(add, "warm", "compile the package ahead of time; takes minutes, once per machine", "", "warm")


def _add_source(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--from", dest="source", metavar="SOURCE", help="user-defined claims: a file, a module or an entry point"
    )


def _budget(text: str) -> str | float:
    if text in ("quick", "thorough"):
        return text
    wanted = f"must be quick, thorough or seconds above 0, got {text!r}"
    try:
        seconds = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(wanted) from None
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(wanted)
    return seconds
