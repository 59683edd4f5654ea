"""Files are written atomically, names are taken once, and progress counts finished work."""

import errno
import io
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

import fedtheory as ft
from fedtheory._storage.files import deliver, locked, place, publish
from fedtheory._support import progress
from fedtheory.study._folder import Folder


@pytest.mark.parametrize("has_links", [True, False])
def test_a_new_file_gets_its_name_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool) -> None:
    if not has_links:

        def refuse(*_: Path) -> None:
            raise OSError(errno.EPERM, "no second names here")

        monkeypatch.setattr(os, "link", refuse)
    place(tmp_path / "new", b"first", new=True)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"new": b"first"}


def test_of_two_who_ask_for_a_new_file_one_gets_it(tmp_path: Path) -> None:
    place(tmp_path / "new", b"first", new=True)
    with pytest.raises(FileExistsError, match=r"new must be a new file, got one that was written in the meantime"):
        place(tmp_path / "new", b"second", new=True)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"new": b"first"}


@pytest.mark.parametrize(
    ("number", "sentence"),
    [(errno.ENOSPC, r"must have room for new\.nc, got the disk is gone"), (errno.EIO, r"the disk is gone")],
)
def test_what_a_disk_refuses_is_said_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, sentence: str
) -> None:
    def refuse(_: int) -> None:
        raise OSError(number, "the disk is gone")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match=sentence) as refusal:
        place(tmp_path / "new.nc", b"half")
    assert (refusal.value.errno, list(tmp_path.iterdir())) == (number, [])


def test_a_bar_shows_how_far_work_is_and_what_is_left_of_it() -> None:
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=120)
    with progress._bar(console, "rounds", 10) as report:
        report(3, 10, "5 s left", "the third")
    assert [word for word in ("rounds", "3/10", "5 s left", "the third") if word not in shown.getvalue()] == []


def test_what_is_left_is_told_by_what_was_done_since_work_began(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []

    def left(new: int, missing: int, _: float) -> str:
        asked.append((new, missing))
        return ""

    monkeypatch.setattr(progress, "_left", left)
    for before in ({}, {"done": 10}):
        with progress.reported("parts", 20, delay=0.0, **before) as report:
            report(15)
    assert asked == [(15, 5), (5, 5)]


def lead_to(target: Path, *names: Path) -> None:
    for name in names:
        name.parent.mkdir(exist_ok=True)
        name.symlink_to(target)


def save_in(path: Path) -> None:
    fed = ft.QuadraticFederation([1.0], [[0.0]], [1.0])
    ft.fedavg(fed, ft.selection.Full(), num_rounds=1, step_size=0.5).save(path)


WRITERS: dict[str, Callable[[Path], object]] = {
    "place": lambda path: place(path, b"new"),
    "publish": lambda path: publish(path.parent, {path.name: b"new"}, "seal.json", {}),
    "run": save_in,
}


@pytest.mark.parametrize("writer", WRITERS)
def test_what_waits_for_its_name_is_a_new_file_and_never_one_that_a_link_leads_to(tmp_path: Path, writer: str) -> None:
    (tmp_path / "own").write_text("years of work")
    me = f"{os.getpid()}-{threading.get_native_id()}"
    waiting = [tmp_path / "received" / f".{name}.{me}.partial" for name in ("file", "seal.json")]
    lead_to(tmp_path / "own", *waiting)
    WRITERS[writer](tmp_path / "received" / "file")
    assert (tmp_path / "own").read_text() == "years of work"
    assert (tmp_path / "received" / "file").stat().st_size > 0
    assert not (tmp_path / "received" / "file").is_symlink()


def study_into(folder: Path) -> None:
    with Folder(folder).reserved({}, "", force=False):
        pass


def test_a_lock_that_is_a_link_is_refused_and_one_that_is_another_name_of_a_file_changes_nothing(
    tmp_path: Path,
) -> None:
    (tmp_path / "own").write_text("years of work")
    lock = tmp_path / "received" / ".lock"
    lead_to(tmp_path / "own", lock)
    with pytest.raises(FileExistsError, match=r"\.lock must not be a link, got"):
        study_into(tmp_path / "received")
    lock.unlink()
    lock.hardlink_to(tmp_path / "own")
    study_into(tmp_path / "received")
    assert (tmp_path / "own").read_text() == "years of work"


def test_one_process_at_a_time_locks_a_folder_and_the_next_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    (tmp_path / ".data.nc.1-1.partial").write_bytes(b"half")
    with locked(tmp_path, "only one may write into"):
        assert [one.name for one in tmp_path.iterdir()] == [".lock"]
        with (
            pytest.raises(FileExistsError, match=r"only one may write into .*, got another process"),
            locked(tmp_path, "only one may write into"),
        ):
            pass
    with locked(tmp_path, "only one may write into"):
        pass


def test_a_file_that_somebody_named_is_whole_and_a_device_stays_one(tmp_path: Path) -> None:
    lead_to(tmp_path / "file", tmp_path / "link")
    deliver(tmp_path / "link", b"new")
    assert ((tmp_path / "link").is_symlink(), (tmp_path / "file").read_bytes()) == (True, b"new")
    deliver(Path(os.devnull), b"new")
    assert not Path(os.devnull).is_file()
