"""What a command shows: a live progress display, one table, and complaints that fit on a line.

All text of commands leaves through ``say`` and ``warn``: none of a claim, a study or a file steers the terminal.
"""

import contextlib
import itertools
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from fedtheory._support.blocks import in_blocks
from fedtheory._support.wording import plain, written

__all__ = ["first_sentence", "live_progress", "say", "show_blocks", "show_table", "warn"]

# A column of sentences folds down to this many characters; narrower it would be a tower of words.
_NARROWEST = 20
# What is no terminal, such as a page that shows what a study prints, has lines of this many characters.
_WIDTH = 100


def say(*lines: str, end: str = "\n") -> None:
    """Write lines to standard output, control characters as their escapes."""
    sys.stdout.write("".join(f"{plain(line)}{end}" for line in lines))


def warn(*lines: str) -> None:
    """Write lines to standard error, control characters as their escapes."""
    sys.stderr.write("".join(f"{plain(line)}\n" for line in lines))


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
    """Show a bar for every wrapped loop on standard error while the context lasts; off a terminal, show nothing.

    What is wrapped is counted by ``total``, or by its length.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Bars(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        yield lambda items, description, total=None: iter(bars.track(items, total=total, description=description))


def show_table(rows: Sequence[Mapping[str, Any]], title: str = "", caption: str = "") -> None:
    """Print rows as one table: words to the left, numbers to the right with four digits.

    The first column says what a row is about and is never cut. On a terminal that is too narrow long columns fold, and
    those that do not fit even so are left out and named below. In a pipe there are plain columns, two blanks or more
    apart.
    """
    title, caption = plain(title), plain(caption)
    cells, right = _cells(rows)
    if not sys.stdout.isatty():
        # The gallery takes the place of standard output with something that only writes.
        say(*_plain(cells, right, title, caption))
        return
    from rich.console import Console

    console = Console()
    names = _fitting(cells, console.width)
    dropped = [name for name in cells[0] if name not in names]
    hidden = f"not shown at this width: {', '.join(dropped)}" if dropped else ""
    console.print(_grid(cells, names, right, title, "\n".join(filter(None, (caption, hidden)))))


def show_blocks(rows: Sequence[Mapping[str, Any]], title: str = "", caption: str = "") -> None:
    """Print all columns of a table, in blocks as wide as the terminal, or as a page."""
    from rich.console import Console

    width = Console().width if sys.stdout.isatty() else _WIDTH
    say(*textwrap.wrap(plain(title), width), *in_blocks(*_cells(rows), width), *textwrap.wrap(plain(caption), width))


def _cells(rows: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, str]], set[str]]:
    """Return what is shown of all entries, and the columns that stand to the right: those of numbers."""
    cells = [{plain(name): plain(written(value)) for name, value in row.items()} for row in rows]
    return cells, {plain(name) for name, value in rows[0].items() if not isinstance(value, str)}


def _plain(cells: Sequence[Mapping[str, str]], right: set[str], title: str, caption: str) -> Iterator[str]:
    widths = {name: max(len(name), *(len(row[name]) for row in cells)) for name in cells[0]}
    if title:
        yield title
    for row in ({name: name for name in widths}, *cells):
        padded = (row[name].rjust(width) if name in right else row[name].ljust(width) for name, width in widths.items())
        yield "  ".join(padded).rstrip()
    if caption:
        yield caption


def _fitting(cells: Sequence[Mapping[str, str]], width: int) -> list[str]:
    """Return the first column and those of the others that fit beside it, folded if they are long.

    >>> _fitting([{"key": "a" * 30, "title": "many words", "sentence": "b" * 90, "n": "7"}], 50)
    ['key', 'title', 'n']
    """
    widths = {name: max(len(name), *(len(row[name]) for row in cells)) for name in cells[0]}
    first, *others = widths
    needed, names = widths[first], [first]
    for name in others:
        if needed + 2 + min(widths[name], _NARROWEST) <= width:
            needed += 2 + min(widths[name], _NARROWEST)
            names.append(name)
    return names


def _grid(cells: Sequence[Mapping[str, str]], names: Sequence[str], right: set[str], title: str, caption: str) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    grid = Table(title=title or None, caption=caption or None, caption_justify="left", box=box.SIMPLE_HEAD)
    grid.pad_edge, grid.show_edge, grid.padding = False, False, (0, 1, 0, 0)
    for index, name in enumerate(names):
        grid.add_column(Text(name), justify="right" if name in right else "left", no_wrap=index == 0, overflow="fold")
    for row in cells:
        grid.add_row(*(Text(row[name]) for name in names))
    return grid
