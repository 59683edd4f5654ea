"""What may stand on the command line, its help, and what a shell offers in its place.

Only ``argparse`` is imported, so that help comes at once.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

from fedtheory import __version__
from fedtheory._commands import completing
from fedtheory._commands.refusals import program
from fedtheory._commands.studying import names_of_studies

__all__ = ["parser_of_commands"]

T = TypeVar("T")

_ABOUT = """\
fedtheory: theorems of federated optimization as functions and checked claims.

{program} COMMAND ...    (COMMAND --help says more, with examples)
"""


class _Command(NamedTuple):
    """A command: its name, what it does, its usage, and examples."""

    name: str
    about: str
    usage: str
    examples: tuple[str, ...]


_LIST = _Command(
    "list",
    "list the claims and the bounds",
    "[PATTERN] [--from SOURCE] [--json]",
    ("list", "list lemma", "list 'fedavg.*' --json"),
)
_SHOW = _Command(
    "show",
    "show claims with their verdicts, or bounds with their formulas",
    "KEY [--from SOURCE] [--latex | --json]",
    ("show power-of-choice:step-54-55", "show power_of_choice.client_drift --latex", "show fedavg:lemma"),
)
_BOUND = _Command(
    "bound",
    "evaluate a bound; bound NAME --help lists its parameters",
    "NAME --PARAMETER VALUE ... \\\n    [--printed] [--loose] [--from SOURCE] [--json]",
    (
        "bound power_of_choice.gradient_norm --help",
        "bound power_of_choice.gradient_norm --excess 1/3 --L 3/2",
        "bound fedavg.one_step --help",
    ),
)
_WORST = _Command(
    "worst",
    "compare a bound's promise with the proved worst case",
    "NAME --PARAMETER VALUE ... \\\n    [--instance FILE [--force]] [--json]",
    (
        "worst power_of_choice.one_round --help",
        """worst power_of_choice.one_round --distance2 1 \\
    --step-size 1/4 --mu 1/10 --L 1 --local-steps 1 --num-selected 1 \\
    --sigma2 0 --objective-gap 1/2 --rho-diagonal 6/5 --rho-tilde 2""",
    ),
)
_VERIFY = _Command(
    "verify",
    "reach verdicts; exit code 1 if one is unexpected",
    "[KEY ...] [--from SOURCE] [--paper PAPER] \\\n    [--kind KIND] [--jobs N] [--seed SEED] \\\n"
    "    [--budget quick | thorough | SECONDS | --instances N] \\\n"
    "    [--hunt S] [--json FILE] [--report FILE.html] [--force]",
    (
        "verify --paper power-of-choice --kind erratum",
        "verify --budget 300 --jobs 2",
        "verify '*:lemma-*' --instances 1000 --seed 7",
        "verify fedavg:lemma-4 --budget thorough --json -",
    ),
)
_HUNT = _Command(
    "hunt",
    "look for a counterexample, and make it small",
    "KEY [--from SOURCE] [--seconds S | --evaluations N] \\\n    [--seed SEED] [--jobs N] [--json]",
    ("hunt power-of-choice:theorem-3.1-refined --seconds 60", "hunt fedalign:theorem-1-as-printed --evaluations 2000"),
)
_REPLAY = _Command(
    "replay",
    "check one instance again; by default the worst known one",
    "KEY [--from SOURCE] [--seed SEED] \\\n    [--tape NUMBERS | --instance N] [--json]",
    ("replay power-of-choice:lemma-b2", "replay power-of-choice:lemma-b2 --seed 3 --instance 7"),
)
_CHECK = _Command(
    "check",
    "check a certificate that a worst case was saved as",
    "FILE",
    ("check certificate.json",),
)
_STUDY = _Command(
    "study",
    "run one of the library's studies; without NAME, list them",
    "[NAME [OPTION ...]]    (NAME --help lists its options)",
    ("study", "study bound_versus_error", "study error_floor --quick"),
)
_COMPLETION = _Command(
    "completion",
    "write the script by which a shell completes names",
    "(bash | zsh | fish)",
    ("completion bash >> ~/.bashrc", "completion fish | source"),
)


class _Parser(argparse.ArgumentParser):
    """A parser that does not leave in silence, and with 0, if its help cannot be written."""

    def print_help(self, file: IO[str] | None = None) -> None:  # type: ignore[override]
        """Write the help, by default to standard output."""
        (file or sys.stdout).write(self.format_help())


class _Version(argparse.Action):
    """Writes the version and leaves."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        sys.stdout.write(f"fedtheory {__version__}\n")
        parser.exit()


def parser_of_commands() -> argparse.ArgumentParser:
    """Return the parser; without a usage text argparse's complaints are one line, and the help says the usage."""
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
    _list_options(_added(add, _LIST))
    _show_options(_added(add, _SHOW))
    _bound_options(_added(add, _BOUND, with_help=False))
    _worst_options(_added(add, _WORST, with_help=False))
    _verify_options(_added(add, _VERIFY))
    _hunt_options(_added(add, _HUNT))
    _replay_options(_added(add, _REPLAY))
    _added(add, _CHECK).add_argument("file", type=Path, metavar="FILE", help="what worst.save wrote")
    _study_options(_added(add, _STUDY))
    shell = _added(add, _COMPLETION).add_argument("shell", metavar="SHELL", help="the shell that is to complete")
    shell.choices = ("bash", "zsh", "fish")
    return parser


def _offer(argument: argparse.Action, names: Callable[[argparse.Namespace], list[str]]) -> None:
    """Say what a shell offers for an argument: argcomplete reads an attribute of it."""
    argument.completer = lambda parsed_args, **_: names(parsed_args)  # type: ignore[attr-defined]


def _added(
    add: Callable[..., argparse.ArgumentParser], command: _Command, *, with_help: bool = True
) -> argparse.ArgumentParser:
    examples = "\n".join(f"  {program()} {example}" for example in command.examples)
    own = add(
        command.name,
        help=command.about,
        description=f"{command.about}\n\n{program()} {command.name} {command.usage}",
        epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage=argparse.SUPPRESS,
        prog=program(),
        allow_abbrev=False,
        add_help=with_help,
    )
    if not with_help:  # the help of a bound tells its parameters, so its name is needed first
        own.add_argument("-h", "--help", action="store_true", help="with NAME: the parameters of that bound")
    own.set_defaults(own=own)
    return own


def _list_options(command: argparse.ArgumentParser) -> None:
    pattern = command.add_argument(
        "pattern", nargs="?", default="", metavar="PATTERN", help="part of a key or title, or a pattern with *"
    )
    _offer(pattern, lambda _: [*completing.claim_keys(), *completing.bound_names()])
    _from_option(command)
    command.add_argument("--json", action="store_true", help="as JSON")


def _show_options(command: argparse.ArgumentParser) -> None:
    key = command.add_argument(
        "key", metavar="KEY", help="key of a claim or name of a bound, its beginning, or a pattern"
    )
    _offer(key, lambda _: [*completing.claim_keys(), *completing.bound_names()])
    _from_option(command)
    form = command.add_mutually_exclusive_group()
    form.add_argument("--latex", action="store_true", help="the formula only, in LaTeX")
    form.add_argument("--json", action="store_true", help="as JSON")


def _bound_options(command: argparse.ArgumentParser) -> None:
    _bound_argument(command, "name of the bound, see list")
    command.add_argument("--printed", action="store_true", help="the form printed in the paper, where it differs")
    command.add_argument("--loose", action="store_true", help="evaluate even if hypotheses are unmet, and name these")
    _from_option(command)
    command.add_argument("--json", action="store_true", help="as JSON")


def _worst_options(command: argparse.ArgumentParser) -> None:
    _bound_argument(command, "name of the bound")
    command.add_argument("--instance", type=Path, metavar="FILE", help="also write the federation that attains it")
    command.add_argument("--force", action="store_true", help="overwrite the file")
    command.add_argument("--json", action="store_true", help="as JSON")
    command.set_defaults(source=None)


def _bound_argument(command: argparse.ArgumentParser, text: str) -> None:
    _offer(command.add_argument("name", nargs="?", metavar="NAME", help=text), lambda _: completing.bound_names())
    for option in completing.parameters() if completing.is_asked() else ():
        command.add_argument(option)


def _verify_options(command: argparse.ArgumentParser) -> None:
    keys = command.add_argument("keys", nargs="*", metavar="KEY", help="key, prefix or pattern; all claims by default")
    _offer(keys, lambda _: completing.claim_keys())
    size = command.add_mutually_exclusive_group()
    size.add_argument(
        "--budget",
        type=_budget,
        default="quick",
        metavar="BUDGET",
        help="how many instances: quick, thorough, or as many as help most within so many seconds",
    )
    size.add_argument("--instances", type=int, metavar="N", help="so many instances of each claim instead")
    paper = command.add_argument("--paper", help="only claims of this paper, the first part of their keys")
    _offer(paper, lambda _: completing.papers())
    kind = command.add_argument(
        "--kind", help="only claims of this kind, such as inequality, erratum or 'refuted conjecture'"
    )
    _offer(kind, lambda _: completing.kinds())
    command.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="so many processes; the verdicts are the same"
    )
    _from_option(command)
    command.add_argument(
        "--hunt", type=float, default=5.0, metavar="S", help="with --from: hunt for S seconds, too (default 5, 0: not)"
    )
    command.add_argument("--seed", type=int, default=0, help="seed of the instances (default 0)")
    command.add_argument("--json", type=Path, metavar="FILE", help="also write the verdicts; - writes only them, here")
    command.add_argument("--report", type=Path, metavar="FILE.html", help="also write a page to read in a browser")
    command.add_argument("--force", action="store_true", help="overwrite the files")


def _from_option(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--from", dest="source", metavar="SOURCE", help="what is your own instead: a file, a module, an entry point"
    )


def _hunt_options(command: argparse.ArgumentParser) -> None:
    _offer(command.add_argument("key", metavar="KEY", help="key of a claim"), lambda _: completing.claim_keys())
    command.add_argument("--seconds", type=float, default=30.0, metavar="S", help="time to hunt (default 30)")
    command.add_argument("--evaluations", type=int, metavar="N", help="most instances to try, in the place of the time")
    _from_option(command)
    command.add_argument("--seed", type=int, default=0, help="seed of the hunt (default 0)")
    command.add_argument("--jobs", type=int, default=1, metavar="N", help="so many processes")
    command.add_argument("--json", action="store_true", help="as JSON")


def _replay_options(command: argparse.ArgumentParser) -> None:
    _offer(command.add_argument("key", metavar="KEY", help="key of a claim"), lambda _: completing.claim_keys())
    which = command.add_mutually_exclusive_group()
    which.add_argument(
        "--tape", type=_numbers, metavar="NUMBERS", help="the random numbers of the instance, with commas"
    )
    which.add_argument("--instance", type=int, metavar="N", help="number of the instance that the seed draws")
    _from_option(command)
    command.add_argument("--seed", type=int, default=0, help="seed of the instances (default 0)")
    command.add_argument("--spawn-key", type=_counts, default=(), metavar="KEY", help="which child of the seed")
    command.add_argument("--json", action="store_true", help="as JSON")


def _study_options(command: argparse.ArgumentParser) -> None:
    name = command.add_argument("name", nargs="?", metavar="NAME", help="name of the study, or its beginning")
    _offer(name, lambda _: list(names_of_studies()))
    command.add_argument("words", nargs=argparse.REMAINDER, metavar="OPTION", help="what the study is told")


def _budget(text: str) -> str | float:
    if text in ("quick", "thorough"):
        return text
    seconds = _read(float, text, "quick, thorough or seconds above 0")
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(_wanted("quick, thorough or seconds above 0", text))
    return seconds


def _numbers(text: str) -> tuple[float, ...]:
    wanted = "numbers from 0 to below 1 with commas, or none"
    found = () if text == "none" else tuple(_read(float, part, wanted) for part in text.split(","))
    if not all(0 <= number < 1 for number in found):
        raise argparse.ArgumentTypeError(_wanted(wanted, text))
    return found


def _counts(text: str) -> tuple[int, ...]:
    return tuple(_read(int, part, "whole numbers with commas") for part in text.split(","))


def _read(kind: Callable[[str], T], text: str, wanted: str) -> T:
    try:
        return kind(text)
    except ValueError:
        raise argparse.ArgumentTypeError(_wanted(wanted, text)) from None


def _wanted(wanted: str, text: str) -> str:
    return f"must be {wanted}, got {text!r}"
