"""What a command shows: a live progress display, one table, and complaints that fit on a line."""

import contextlib
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

__all__ = ["first_sentence", "live_progress", "show_table"]


def first_sentence(panel: str) -> str:
    """Return the complaint inside one of tyro's error panels, as one line."""
    # tyro puts a title above its complaint and help below it, with rules between, framed and colored on a terminal.
    lines = [line.strip(" │|") for line in re.sub(r"\x1b\[[0-9;]*m", "", panel).splitlines()]
    below_title = itertools.dropwhile(_is_rule, lines[1:])
    return " ".join([*itertools.takewhile(lambda line: not _is_rule(line), below_title), "(see --help)"])


def _is_rule(line: str) -> bool:
    return not line.strip("─-╭╮╰╯ ")


@contextlib.contextmanager
def live_progress() -> Iterator[Callable[..., Iterator[Any]]]:
    """Show a bar for every wrapped loop on standard error while the context lasts; off a terminal, show nothing."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Bars(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        yield lambda items, description: iter(bars.track(list(items), description=description))


def show_table(rows: Sequence[Mapping[str, Any]], title: str = "", caption: str = "") -> None:
    """Print rows as one table: words to the left, numbers to the right with four digits."""
    from rich.console import Console
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(title=title or None, caption=caption or None, caption_justify="left")
    for name, value in rows[0].items():
        grid.add_column(Text(name), justify="left" if isinstance(value, str) else "right")
    for row in rows:
        grid.add_row(*(Text(f"{value:.4g}" if isinstance(value, float) else str(value)) for value in row.values()))
    console = Console()
    # A pipe has no width of its own: give it what the table needs instead of folding the cells at 80.
    needed = console.measure(grid, options=console.options.update(max_width=1000)).maximum
    Console(width=console.width if console.is_terminal else needed).print(grid)
