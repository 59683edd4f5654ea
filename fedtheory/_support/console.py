"""Output of commands: a table, and error messages of one line.

All text of commands is written by ``say`` and ``warn``, so that no claim, study or file can control the terminal.
"""

import io
import itertools
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from fedtheory._support.wording import format_value, plain

# Width of lines that are not written to a terminal.
_WIDEST = 10_000


def say(*lines: str, end: str = "\n") -> None:
    """Write lines to standard output with escaped control characters."""
    sys.stdout.write("".join(f"{plain(line)}{end}" for line in lines))


def warn(*lines: str) -> None:
    """Write lines to standard error with escaped control characters."""
    sys.stderr.write("".join(f"{plain(line)}\n" for line in lines))


def first_sentence(panel: str) -> str:
    """Return the error message in one of tyro's panels as one line."""
    # tyro puts a title above the message and help below it, separated by rules, framed and colored on a terminal.
    lines = [line.strip(" │|") for line in re.sub(r"\x1b\[[0-9;]*m", "", panel).splitlines()]
    below_title = itertools.dropwhile(_is_rule, lines[1:])
    return " ".join([*itertools.takewhile(lambda line: not _is_rule(line), below_title), "(see --help)"])


def _is_rule(line: str) -> bool:
    return not line.strip("─-╭╮╰╯ ")


def show_table(rows: Sequence[Mapping[str, Any]], title: str = "", caption: str = "") -> None:
    """Print rows as one table: words left-aligned, numbers right-aligned with four digits.

    On a terminal long columns are folded, except the first one, which identifies the row. In a pipe columns are plain,
    separated by at least two blanks, and of any width.
    """
    from rich import box
    from rich.console import Console

    if sys.stdout.isatty():
        Console().print(_table(rows, box.SIMPLE_HEAD, title, caption))
        return
    say(*table_lines(rows, title, caption))


def table_lines(rows: Sequence[Mapping[str, Any]], title: str = "", caption: str = "") -> list[str]:
    """Return the lines of a table without a frame, of any width."""
    from rich.console import Console

    page = io.StringIO()  # a replacement of standard output may only support writing
    if rows:
        Console(file=page, width=_WIDEST, force_jupyter=False, color_system=None).print(_table(rows, None))
    return [plain(line) for line in (title, *map(str.rstrip, page.getvalue().splitlines()), caption) if line]


def _table(rows: Sequence[Mapping[str, Any]], lines: Any, title: str = "", caption: str = "") -> Any:
    from rich.table import Table
    from rich.text import Text

    grid = Table(title=plain(title) or None, caption=plain(caption) or None, caption_justify="left", box=lines)
    # Rich adds a blank next to the lines of a box.
    grid.pad_edge, grid.show_edge, grid.padding = False, False, (0, 2 if lines is None else 1, 0, 0)
    for name, value in rows[0].items():
        side: Any = "left" if isinstance(value, str) else "right"
        grid.add_column(Text(plain(name)), justify=side, no_wrap=not grid.columns, overflow="fold")
    for row in rows:
        grid.add_row(*(Text(plain(format_value(value))) for value in row.values()))
    return grid
