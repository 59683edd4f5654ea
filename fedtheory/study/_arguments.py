"""The command line of a study, read off its configuration, and what it prints."""

import contextlib
import dataclasses
import inspect
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from fedtheory._support.console import first_sentence, say, show_table, warn
from fedtheory.study._folder import read, restored

__all__ = ["complain", "default_folder", "parse", "tell"]


def default_folder(name: str, *, quick: bool) -> Path:
    """Return where results go: those of the small size have a folder of their own."""
    return Path("results", f"{name}-quick" if quick else name)


def parse(study: Any, argv: Sequence[str]) -> Any:
    """Return the configuration and the options; ValueError for wrong usage."""
    import tyro

    default = study.quick if "--quick" in argv else study.config
    command, complaint = _command(study, type(default)), io.StringIO()
    try:
        with contextlib.redirect_stderr(complaint):
            options = tyro.cli(
                command,
                args=list(argv),
                default=command(default),
                prog=f"{study.name}.py",
                description=(inspect.getdoc(type(default)) or "").split("\n\n")[0],
                config=(tyro.conf.FlagCreatePairsOff,),
            )
    except SystemExit as stop:
        if stop.code:
            raise ValueError(first_sentence(complaint.getvalue())) from None
        raise
    return _as_before(study, options, default) if options.again or options.shown else options


def tell(study: Any, result: Any) -> int:
    """Print the table and how many checks hold; return how many do not."""
    show_table(*result.table)
    failed = {name: check for name, check in result.checks.items() if not check.holds}
    for name, check in failed.items():
        complain(study, f"check failed: {name}: {check.detail}")
    held = f"{len(result.checks) - len(failed)} of {len(result.checks)} checks hold"
    say(held, end="; ")
    return len(failed)


def complain(study: Any, message: str) -> None:
    """Say what is wrong, in one line."""
    warn(f"{study.name}: {message}")


def _command(study: Any, kind: type) -> Any:
    import tyro

    def option(kind: Any, text: str, name: str | None = None) -> Any:
        return Annotated[kind, tyro.conf.arg(help=text, name=name)]

    folder = default_folder(study.name, quick=False)
    return dataclasses.make_dataclass(
        "Command",
        [
            ("config", Annotated[kind, tyro.conf.arg(name="")]),
            ("quick", option(bool, "Start from the small size, which takes seconds."), False),
            ("output", option(Path | None, f"Folder for the results (default: {folder}, or {folder}-quick)."), None),
            ("force", option(bool, "Overwrite results of another configuration."), False),
            ("again", option(Path | None, "Answer the question of these results again, and compare.", "from"), None),
            ("shown", option(Path | None, "Show these results: table, checks and figures, drawn again.", "show"), None),
            ("debug", option(bool, "Show where a complaint comes from."), False),
        ],
    )


def _as_before(study: Any, options: Any, default: Any) -> Any:
    """Take the configuration of stored results; nothing else may be asked for."""
    name = "--from" if options.again else "--show"
    others = (options.quick, options.output, options.force, options.again and options.shown)
    if options.config != default or any(others):
        said = "--from runs a study again as it was" if options.again else "--show shows results as they are"
        message = f"{said}, got other parameters beside it"
        raise ValueError(message)
    metadata = read(options.again or options.shown)[3]
    if metadata["study"] != study.name:
        message = f"{name} must name results of {study.name}, got those of {metadata['study']}"
        raise ValueError(message)
    return dataclasses.replace(options, config=restored(study.config, metadata["config"]))
