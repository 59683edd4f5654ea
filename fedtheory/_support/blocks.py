"""A table that is wider than the lines, as blocks of columns below each other, with headings on several lines."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = ["in_blocks"]

# With more lines a heading is harder to read than a wider column.
_LINES = 3
_GAP = "  "


def in_blocks(cells: Sequence[Mapping[str, str]], right: set[str], width: int) -> Iterator[str]:
    """Yield the lines of a table, blocks apart by an empty one; the columns that tell rows apart begin each block.

    Nothing is folded in a table that fits. A block has one other column at least, if there is one, even if its lines
    are longer then.

    >>> rows = [{"d": "3", "error of the run": "0.25", "bound": "2"}, {"d": "30", "error of the run": "1", "bound": ""}]
    >>> for line in in_blocks(rows, {"d", "error of the run"}, 10):
    ...     print(f"|{line}")
    |     error
    |    of the
    | d     run
    |--  ------
    | 3    0.25
    |30       1
    |
    | d  bound
    | 3  2
    |30
    """
    entries = {name: max(len(row[name]) for row in cells) for name in cells[0]}
    widths = {name: max(len(name), longest) for name, longest in entries.items()}
    if _length(widths.values()) <= width:
        yield from _block(cells, widths, right)
        return
    widths = {name: max(_heading_width(name), longest) for name, longest in entries.items()}
    keys = _telling_apart(cells)
    others = [name for name in widths if name not in keys]
    while True:
        shown = [*keys, *others[:1]]
        del others[:1]
        while others and _length(widths[name] for name in (*shown, others[0])) <= width:
            shown.append(others.pop(0))
        yield from _block(cells, {name: widths[name] for name in shown}, right)
        if not others:
            return
        yield ""


def _length(widths: Iterable[int]) -> int:
    return sum(width + len(_GAP) for width in widths) - len(_GAP)


def _telling_apart(cells: Sequence[Mapping[str, str]]) -> list[str]:
    """Return those of the first columns that it takes to tell rows apart; the first one if they cannot.

    >>> _telling_apart([{"n": "1", "m": "1", "k": "3"}, {"n": "1", "m": "2", "k": "4"}])
    ['m']
    """
    names = list(cells[0])

    def apart(some: Sequence[str]) -> bool:
        return len({tuple(row[name] for name in some) for row in cells}) == len(cells)

    keys = next((names[:count] for count in range(1, len(names)) if apart(names[:count])), names[:1])
    for name in reversed(keys):
        fewer = [key for key in keys if key != name]
        keys = fewer if fewer and apart(fewer) else keys
    return keys


def _heading_width(name: str) -> int:
    """Return the least width at which a heading takes few lines, with no word cut.

    >>> _heading_width("final accuracy [%]"), _heading_width("d")
    (8, 1)
    """
    longest = max(map(len, name.split()), default=0)
    return next(width for width in range(longest, len(name) + 1) if len(_folded(name, width)) <= _LINES)


def _folded(name: str, width: int) -> list[str]:
    return textwrap.wrap(name, max(width, 1), break_on_hyphens=False)


def _block(cells: Sequence[Mapping[str, str]], widths: Mapping[str, int], right: set[str]) -> Iterator[str]:
    """Yield headings, a rule if they are folded, and rows."""

    def line(entries: Mapping[str, str]) -> str:
        padded = (
            entries[name].rjust(width) if name in right else entries[name].ljust(width)
            for name, width in widths.items()
        )
        return _GAP.join(padded).rstrip()

    headings = {name: _folded(name, width) for name, width in widths.items()}
    height = max(map(len, headings.values()))
    for at in range(height):
        yield line({name: ([""] * (height - len(part)) + part)[at] for name, part in headings.items()})
    if height > 1:
        yield line({name: "-" * width for name, width in widths.items()})
    yield from map(line, cells)
