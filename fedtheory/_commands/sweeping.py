"""``sweep``: a study over a grid of its parameters."""

import argparse
import io
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from fedtheory._commands.refusals import mention_processors, refuse
from fedtheory._storage.files import place
from fedtheory._support.console import say, show_table, warn
from fedtheory.study._figures import save_figure
from fedtheory.sweeps._work import read_study
from fedtheory.sweeps.plans import plan
from fedtheory.sweeps.results import Sweep
from fedtheory.sweeps.run import sweep

__all__ = ["sweep_study"]

_MOST_LINES = 20


def sweep_study(arguments: argparse.Namespace) -> int:
    """Run a sweep and show it; 1 if a configuration failed."""
    with warnings.catch_warnings():
        warnings.showwarning = _one_line  # type: ignore[assignment]
        try:
            options = _options(arguments)
            if arguments.plan:
                return _show_plan(arguments, options)
            if arguments.backend in ("processes", "dask") and arguments.scheduler is None:
                count = math.prod(map(len, options["grid"].values()))
                seeds = arguments.seeds if isinstance(arguments.seeds, int) else len(arguments.seeds or [1])
                mention_processors("--workers", min(arguments.workers or 1, count * seeds))
            found = sweep(
                arguments.study, scheduler=arguments.scheduler, force=arguments.force, progress=True, **options
            )
            _show(found, arguments.show)
        except KeyboardInterrupt:
            warn(f"interrupted; what is finished is in {arguments.out}")
            return 130
        except OSError as error:
            refuse(error.strerror or str(error))
        except (ValueError, TypeError) as error:
            refuse(str(error))
    for failure in found.failures[:_MOST_LINES]:
        warn(f"failed: {failure.configuration}: {failure.error}")
    if len(found.failures) > _MOST_LINES:
        warn(f"and {len(found.failures) - _MOST_LINES} more, see {arguments.out / 'failures.json'}")
    return 1 if found.failures else 0


def _one_line(message: Warning | str, *_: Any) -> None:
    warn(f"warning: {message}")


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    if not arguments.study.is_file():
        message = f"STUDY must be a Python file, got {arguments.study}"
        raise ValueError(message)
    study = read_study(str(arguments.study.resolve()))
    settings = dict(arguments.settings)
    if len(settings) < len(arguments.settings):
        message = "--set must name each parameter once, got one twice"
        raise ValueError(message)
    config = study.quick if arguments.quick else study.config
    return {
        "grid": {name: [_value(config, name, text) for text in texts] for name, texts in settings.items()},
        **{name: getattr(arguments, name) for name in ("seeds", "rng", "backend", "workers", "out", "quick")},
    }


def _value(config: Any, name: str, text: str) -> Any:
    """Read a value of the kind that the parameter has by default."""
    default = getattr(config, name, text)  # an unknown name is refused with the names that are known
    if isinstance(default, tuple):
        return tuple(_read(name, default[0] if default else part, part) for part in text.split(":"))
    return _read(name, default, text)


def _read(name: str, default: Any, text: str) -> Any:
    kinds: Mapping[type, tuple[Callable[[str], Any], str]] = {
        bool: ({"true": True, "false": False}.__getitem__, "true or false"),
        int: (int, "a whole number"),
        float: (float, "a number"),
    }
    kind, wanted = kinds.get(type(default), (str, "a word"))
    try:
        return kind(text)
    except (ValueError, KeyError):
        message = f"{name} must be {wanted}, got {text!r}"
        raise ValueError(message) from None


def _show_plan(arguments: argparse.Namespace, options: Mapping[str, Any]) -> int:
    found = plan(arguments.study, **options)
    lines = [f"{found.complete} configurations are complete, {len(found.missing)} would run on {found.workers} workers"]
    lines += [f"  {configuration}" for configuration in found.missing[:_MOST_LINES]]
    if len(found.missing) > _MOST_LINES:
        lines.append(f"  and {len(found.missing) - _MOST_LINES} more")
    if found.missing:
        mean = sum(found.sampled) / len(found.sampled)
        failed = f", {found.failed} of them failed" if found.failed else ""
        cold = ", compilation included" if found.cold else ""
        lines.append(f"{len(found.sampled)} of them took {mean:.3g} s each here{cold}{failed}")
        lines.append(f"all would take about {timedelta(seconds=round(found.seconds))}")
    say(*lines)
    return 0


def _show(found: Sweep, variable: str | None) -> None:
    if found.variables:
        show_table(*found.table(variable))
        if _draw(found, variable):
            say(f"figure in {found.folder}")
    say(
        f"{found.data['failed'].size} configurations, {len(found.failures)} failed; "
        f"digest {found.digest[:16]}; results in {found.folder}"
    )


def _draw(found: Sweep, variable: str | None) -> bool:
    """Draw the plot into the folder, if there is an axis of numbers."""
    from fedtheory.plotting.style import appearance, legend_below

    numeric: Sequence[str] = [name for name in found.points if found.data[name].dtype.kind in "iuf"]
    if not numeric or found.folder is None:
        return False
    with appearance():
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=(6, 4.5))
        found.plot(axes, variable)
        legend_below(figure)
        for kind in ("png", "pdf"):
            content = io.BytesIO()
            save_figure(figure, content, kind)
            place(Path(found.folder) / f"sweep.{kind}", content.getvalue())
        plt.close(figure)
    return True
