"""Results of a study: data, a table, and findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from fedtheory._support.console import table_lines
from fedtheory._support.summary import html_table
from fedtheory._support.wording import plain

if TYPE_CHECKING:
    from xarray import Dataset

# Rows of a table that are displayed.
_SHOWN = 20


class Finding(NamedTuple):
    """A sentence about the data of a study, whether it holds, and numbers that decide it beyond the sentence."""

    sentence: str
    holds: bool
    detail: str = ""


class Table(NamedTuple):
    """Table of a study: one mapping per row from column title (with its unit) to a number or a word."""

    rows: Sequence[Mapping[str, Any]]
    title: str = ""
    caption: str = ""

    def __repr__(self) -> str:
        return "\n".join([*table_lines(self.rows[:_SHOWN], self.title), *self._below])

    def _repr_html_(self) -> str:
        rows = [row.values() for row in self.rows[:_SHOWN]]
        below = "".join(f"<p>{escape(line)}</p>" for line in self._below)
        return html_table(self.rows[0] if rows else (), rows, self.title) + below

    @property
    def _below(self) -> list[str]:
        number = len(self.rows) - _SHOWN
        return [f"... {number} more rows"] * (number > 0) + [plain(self.caption)] * bool(self.caption)


class Result(NamedTuple):
    """Result of a study, computed or read from its folder."""

    data: Dataset
    table: Table
    findings: Mapping[str, Finding]
    metadata: Mapping[str, Any]


def from_records(records: Sequence[Mapping[str, Any]]) -> Dataset:
    """Convert flat records with the same keys to a Dataset with the dimension ``row`` and one variable per key.

    The values are numbers, words, or arrays with one shape in all records, whose dimensions are numbered.

    >>> from_records([{"peer": "loop", "ratio": 200.0}, {"peer": "batched", "ratio": 9.5}])["ratio"].values
    array([200. ,   9.5])
    >>> from_records([{"gap": [5.0, 3.0]}, {"gap": [7.0, 2.0]}])["gap"].dims
    ('row', 'gap_0')
    """
    import numpy as np
    import xarray

    if not records:
        message = "records must hold at least one, got none"
        raise ValueError(message)
    variables = {}
    for i, record in enumerate(records):
        if set(record) != set(records[0]):
            first, other = ", ".join(records[0]), ", ".join(record)
            message = f"records must have the same names, got {first} at first and {other} in record {i}"
            raise ValueError(message)
    for name in records[0]:
        column = [np.asarray(record[name]) for record in records]
        shape = column[0].shape
        for i, value in enumerate(column):
            if value.shape != shape:
                message = (
                    f"{name} must have one shape in all records, got {shape} at first and {value.shape} in record {i}"
                )
                raise ValueError(message)
        variables[name] = (("row", *(f"{name}_{axis}" for axis in range(len(shape)))), np.stack(column))
    return xarray.Dataset(variables)
