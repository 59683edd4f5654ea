"""Short summaries of values: text for a terminal, a table for a notebook."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any, Protocol, final

from fedtheory._support.wording import format_value, plain

_WIDEST = 100


@final
@dataclass(frozen=True)
class Summary:
    """The kind of a value and its properties by name, in at most ten lines."""

    title: str
    rows: Mapping[str, Any]

    @property
    def line(self) -> str:
        """The summary as one call."""
        return plain(f"{self.title}({', '.join(f'{name}={format_value(value)}' for name, value in self.rows.items())})")

    @property
    def text(self) -> str:
        """The summary as lines, names to the left.

        >>> print(Summary("Run", {"rounds": 12, "loss": 1 / 3}).text)
        Run
          rounds  12
          loss    0.3333
        """
        width = max(map(len, self.rows), default=0)
        lines = (short_text(f"  {name.ljust(width)}  {format_value(value)}") for name, value in self.rows.items())
        return plain("\n".join([self.title, *lines]))

    @property
    def html(self) -> str:
        """The summary as a table.

        >>> Summary("a < b", {"loss": 1 / 3}).html
        '<table><caption>a &lt; b</caption><tr><th>loss</th><td>0.3333</td></tr></table>'
        """
        rows = (
            f"<th>{escape(name)}</th><td>{escape(short_text(format_value(value)))}</td>"
            for name, value in self.rows.items()
        )
        return f"<table><caption>{escape(self.title)}</caption><tr>{'</tr><tr>'.join(rows)}</tr></table>"


class Displayed(Protocol):
    """Values that are displayed by their summary: one line in a terminal, a table in a notebook."""

    @property
    def _summary(self) -> Summary: ...

    def __repr__(self) -> str:
        return self._summary.line

    def _repr_html_(self) -> str:
        return self._summary.html


def html_table(head: Iterable[str], rows: Iterable[Iterable[Any]], title: str = "") -> str:
    """Return a table with a row of column titles; all text is escaped."""
    caption = f"<caption>{escape(title)}</caption>" if title else ""
    lines = ["".join(f"<th>{escape(name)}</th>" for name in head)]
    lines += ["".join(f"<td>{escape(format_value(value))}</td>" for value in row) for row in rows]
    return f"<table>{caption}<tr>{'</tr><tr>'.join(lines)}</tr></table>"


def short_text(text: str) -> str:
    """Return a text, truncated if it is longer than a line."""
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 3]}..."
