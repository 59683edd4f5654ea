"""Files are whole or not there, a name is taken once, and progress is told by what was done."""

import errno
import io
import os
from pathlib import Path

import pytest
from rich.console import Console

from fedtheory import _progress
from fedtheory._files import bytes_writer, place


@pytest.mark.parametrize("has_links", [True, False])
def test_a_new_file_gets_its_name_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool) -> None:
    if not has_links:

        def refuse(*_: Path) -> None:
            raise OSError(errno.EPERM, "no second names here")

        monkeypatch.setattr(os, "link", refuse)
    place(tmp_path / "new", bytes_writer(b"first"), new=True)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"new": b"first"}


def test_of_two_who_ask_for_a_new_file_one_gets_it(tmp_path: Path) -> None:
    place(tmp_path / "new", bytes_writer(b"first"), new=True)
    with pytest.raises(FileExistsError, match=r"new must be a new file, got one that was written meanwhile"):
        place(tmp_path / "new", bytes_writer(b"second"), new=True)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"new": b"first"}


@pytest.mark.parametrize(
    ("number", "sentence"),
    [(errno.ENOSPC, r"must have room for new\.nc, got No space"), (errno.EIO, r"the disk is gone")],
)
def test_what_a_disk_refuses_is_said_and_leaves_nothing(tmp_path: Path, number: int, sentence: str) -> None:
    def write(path: Path) -> None:
        path.write_bytes(b"half")
        raise OSError(number, "the disk is gone")

    with pytest.raises(OSError, match=sentence) as refusal:
        place(tmp_path / "new.nc", write)
    assert (refusal.value.errno, list(tmp_path.iterdir())) == (number, [])


def test_a_bar_shows_how_far_work_is_and_what_is_left_of_it() -> None:
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=120)
    with _progress._bar(console, "rounds", 10) as report:
        report(3, 10, "5 s left", "the third")
    assert [word for word in ("rounds", "3/10", "5 s left", "the third") if word not in shown.getvalue()] == []


def test_what_is_left_is_told_by_what_was_done_since_work_began(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []

    def left(new: int, missing: int, _: float) -> str:
        asked.append((new, missing))
        return ""

    monkeypatch.setattr(_progress, "_left", left)
    for before in ({}, {"done": 10}):
        with _progress.reported("parts", 20, **before) as report:
            report(15)
    assert asked == [(15, 5), (5, 5)]
