"""The command line of a study, read off its configuration."""

import contextlib
import dataclasses
import inspect
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from fedtheory._console import first_sentence
from fedtheory._study_folder import read, restored

__all__ = ["default_folder", "parse"]


def default_folder(name: str, *, quick: bool) -> Path:
    """Return where results go: those of the small size have a folder of their own."""
    return Path("results", f"{name}-quick" if quick else name)


def parse(study: Any, argv: Sequence[str]) -> Any:
    """Return ``config``, ``quick``, ``output``, ``force``, ``again`` and ``debug``; ValueError for wrong usage."""
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
    return options if options.again is None else _as_before(study, options, default)


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
            ("debug", option(bool, "Show where a complaint comes from."), False),
        ],
    )


def _as_before(study: Any, options: Any, default: Any) -> Any:
    """Take the configuration of stored results; nothing else may be asked for."""
    if options.config != default or options.quick or options.output is not None or options.force:
        message = "--from runs a study again as it was, got other parameters beside it"
        raise ValueError(message)
    metadata = read(options.again)[3]
    if metadata["study"] != study.name:
        message = f"--from must name results of {study.name}, got those of {metadata['study']}"
        raise ValueError(message)
    return dataclasses.replace(options, config=restored(study.config, metadata["config"]))
