"""Tables in a console are as wide as it is and no wider."""

import sys
import types

import pytest

from fedtheory._console import _fitting, show_table

ROW = {"key": "a" * 10, "title": "b" * 10, "sentence": "c" * 90, "n": "d" * 10}


def test_columns_are_shown_as_long_as_they_and_the_two_blanks_before_each_fit() -> None:
    # 10, then 2 + 10 for each short column, and 2 + 24 for one that is folded.
    shown = {width: tuple(_fitting([ROW], width)) for width in (9, 21, 22, 33, 34, 59, 60)}
    assert shown == {
        9: ("key",),
        21: ("key",),
        22: ("key", "title"),
        33: ("key", "title"),
        34: ("key", "title", "n"),
        59: ("key", "title", "sentence"),
        60: ("key", "title", "sentence", "n"),
    }


def test_a_column_is_as_wide_as_its_longest_entry_or_its_name() -> None:
    rows = [{"key": "a", "title": "b" * 8}, {"key": "a" * 5, "title": "b"}]
    assert _fitting(rows, 15) == ["key", "title"]
    assert _fitting(rows, 14) == ["key"]
    assert _fitting([{"key": "a", "title": ""}], 10) == ["key", "title"]
    assert _fitting([{"key": "a", "title": ""}], 9) == ["key"]


def test_a_table_is_written_to_what_can_only_write(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    only = types.SimpleNamespace(write=written.append, isatty=lambda: False)
    monkeypatch.setattr(sys, "stdout", only)
    show_table([{"d": 3, "gap": 0.25}], caption="all")
    assert "".join(written) == "d   gap\n3  0.25\nall\n"
