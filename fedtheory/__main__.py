"""The command line: ``fedtheory list | show | verify | hunt | referee | check | study | warm``.

``python -m fedtheory ...`` is equivalent.
"""

import importlib
import sys
import warnings
from collections.abc import Sequence
from typing import NoReturn

from fedtheory._support.console import warn
from fedtheory._support.streams import check_stdout, flush_stdout, sentence, to_devnull
from fedtheory._support.wording import suggest
from fedtheory.cli.parsing import parser_of_commands
from fedtheory.cli.refusals import refuse

__all__ = ["main", "run"]

_INTERRUPTED = 130

# Module and function of each command, imported when it is used.
_FUNCTIONS = {
    "list": ("showing", "list_all"),
    "show": ("showing", "show"),
    "verify": ("verifying", "verify_claims"),
    "hunt": ("hunting", "hunt_claim"),
    "referee": ("refereeing", "referee_file"),
    "check": ("checking", "check_certificate"),
    "study": ("studying", "run_study"),
    "warm": ("warming", "warm_up"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return 0, or 1 if a verdict is not the expected one. Wrong usage exits with 2 and one line."""
    try:
        check_stdout()
        try:
            code = _run(argv)
        finally:
            flush_stdout()  # also after --help, which exits with SystemExit
    except KeyboardInterrupt:
        warn("interrupted")
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader has ended, as in `fedtheory list | head`; output that would be flushed at exit is discarded.
        to_devnull()
        return 0
    except OSError as error:
        to_devnull()
        refuse(sentence(error))
    return code


def _run(argv: Sequence[str] | None) -> int:
    parser = parser_of_commands()
    first = (sys.argv[1:] if argv is None else argv)[:1]
    if not first:
        parser.print_help()
        return 0
    if not first[0].startswith("-") and first[0] not in _FUNCTIONS:
        refuse(f"COMMAND must be one of {', '.join(_FUNCTIONS)}, got {first[0]!r}{suggest(first[0], _FUNCTIONS)}")
    arguments = parser.parse_args(argv)
    module, function = _FUNCTIONS[arguments.command]
    with warnings.catch_warnings(record=True) as recorded:
        try:
            return int(getattr(importlib.import_module(f"fedtheory.cli.{module}"), function)(arguments))
        finally:
            warn(*(f"warning: {one.message}" for one in recorded))


def run() -> NoReturn:
    """Run the command of this process and exit with its code."""
    sys.exit(main())


if __name__ == "__main__":
    run()
