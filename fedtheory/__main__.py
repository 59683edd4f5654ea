"""The command line: ``fedtheory list | show | bound | worst | verify | hunt | replay | study | sweep | completion``.

``python -m fedtheory ...`` is the same.

Only ``argparse`` is imported before the arguments are understood, so that ``--help`` answers at once.
"""

import argparse
import importlib
import os
import sys
import warnings
from collections.abc import Sequence
from typing import NoReturn

from fedtheory._commands.completing import complete, is_asked, write_script
from fedtheory._commands.parsing import parser_of_commands
from fedtheory._commands.refusals import refuse
from fedtheory._support.console import warn
from fedtheory._support.streams import flushed, nowhere, opened, sentence

__all__ = ["main", "run"]

_INTERRUPTED = 130

# Each is imported when it is asked for.
_FUNCTIONS = {
    "list": ("listing", "list_all"),
    "show": ("showing", "show"),
    "verify": ("verifying", "verify_claims"),
    "hunt": ("hunting", "hunt_claim"),
    "replay": ("hunting", "replay_instance"),
    "study": ("studying", "run_study"),
    "sweep": ("sweeping", "sweep_study"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return 0, or 1 if a verdict is not the expected one. Wrong usage leaves with 2 and one line."""
    try:
        opened()
        try:
            code = _understood(argv)
        finally:
            flushed()  # after --help, too, which leaves with SystemExit
    except KeyboardInterrupt:
        warn("interrupted")
        return _INTERRUPTED
    except BrokenPipeError:
        # Whoever reads has enough, as in `fedtheory list | head`. What is still to be flushed at the exit goes nowhere.
        nowhere()
        return 0
    except OSError as error:
        nowhere()
        refuse(sentence(error))
    return code


def _understood(argv: Sequence[str] | None) -> int:
    parser = parser_of_commands()
    if is_asked():
        complete(parser)
    arguments, rest = parser.parse_known_args(argv)
    if rest and arguments.command not in ("bound", "worst"):
        refuse(f"unknown arguments {' '.join(rest)}")
    with warnings.catch_warnings():
        warnings.showwarning = _tell
        return write_script(arguments.shell) if arguments.command == "completion" else _run(arguments, rest)


def _tell(message: Warning | str, *_: object, **__: object) -> None:
    warn(f"warning: {message}")


def _run(arguments: argparse.Namespace, rest: Sequence[str]) -> int:
    if arguments.command in ("bound", "worst"):
        return _run_on_bound(arguments, rest)
    module, function = _FUNCTIONS[arguments.command]
    run_command = getattr(importlib.import_module(f"fedtheory._commands.{module}"), function)
    return int(run_command(arguments))


def _run_on_bound(arguments: argparse.Namespace, rest: Sequence[str]) -> int:
    if arguments.help and arguments.name is None:
        arguments.own.print_help()
        return 0
    if arguments.name is None:
        refuse("the following arguments are required: NAME")
    from fedtheory._commands.evaluating import evaluate, evaluate_help

    if arguments.help:
        return evaluate_help(
            arguments.command, arguments.name, printed=arguments.command == "bound" and arguments.printed
        )
    if arguments.command == "bound":
        form = {"printed": arguments.printed, "loose": arguments.loose, "as_json": arguments.json}
        return evaluate(arguments.name, rest, **form)
    from fedtheory._commands.confronting import confront_worst

    return confront_worst(arguments.name, rest, arguments.instance, force=arguments.force)


def run() -> NoReturn:
    """Run the command of this process and leave with its code."""
    code = main()
    if code == _INTERRUPTED:
        # A check may still be computed in a thread, on which the interpreter's own end would wait, or in processes.
        sys.stderr.flush()
        _end_processes()
        os._exit(code)
    sys.exit(code)


def _end_processes() -> None:
    if "joblib" in sys.modules:
        from joblib.externals.loky import get_reusable_executor

        get_reusable_executor(kill_workers=True).shutdown(kill_workers=True)


if __name__ == "__main__":
    run()
