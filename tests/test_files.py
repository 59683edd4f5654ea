"""Files are written atomically, names are taken once, and progress counts finished work."""

import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import fedtheory as ft
from fedtheory._storage.files import deliver, locked, place, publish
from fedtheory.study._folder import Folder


def test_a_new_file_gets_its_name_whole_where_files_cannot_have_two_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_text_that_is_written_ends_with_a_line(tmp_path: Path) -> None:
    publish(tmp_path, {"data": b"\0"}, "index.json", {"form": 1})
    text = (tmp_path / "index.json").read_bytes()
    assert text.endswith(b"}\n")
    assert not text.endswith(b"\n\n")


def test_what_a_disk_refuses_is_said_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: int) -> None:
        raise OSError(errno.ENOSPC, "the disk is gone")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match=r"must have room for new\.nc") as refusal:
        place(tmp_path / "new.nc", b"half")
    assert (refusal.value.errno, list(tmp_path.iterdir())) == (errno.ENOSPC, [])


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
