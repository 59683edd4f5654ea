"""Where a result was made."""

import hashlib
import re
import subprocess

import pytest

from fedtheory._storage.provenance import provenance
from fedtheory._storage.releases import made_by
from tests.environment import ROOT


def _git(folder, *words):
    identity = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def test_the_commit_of_the_working_directory_is_said_and_whether_files_differ_from_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "git commit" not in provenance()
    _git(tmp_path, "init")
    assert "git commit" not in provenance()
    (tmp_path / "file").write_text("one")
    _git(tmp_path, "add", "file")
    _git(tmp_path, "commit", "-m", "first")
    _git(tmp_path, "tag", "-a", "v1", "-m", "a tag does not hide the commit")
    assert re.fullmatch("[0-9a-f]{40}", provenance()["git commit"])
    (tmp_path / "file").write_text("two")
    assert re.fullmatch("[0-9a-f]{40}-dirty", provenance()["git commit"])
    monkeypatch.setenv("PATH", "")
    assert "git commit" not in provenance()


def _in_a_branch(folder):
    _git(folder, "branch", "other")
    _git(folder, "pack-refs", "--all")


def _in_a_work_tree(folder):
    _git(folder, "worktree", "add", str(folder / "tree"), "-b", "other")
    return folder / "tree"


def _detached(folder):
    _git(folder, "checkout", "--detach")


@pytest.mark.parametrize("state", [_in_a_branch, _in_a_work_tree, _detached])
def test_the_commit_is_said_wherever_git_keeps_it_and_in_folders_below(tmp_path, monkeypatch, state):
    _git(tmp_path, "init")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("one")
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "-m", "first")
    place = state(tmp_path) or tmp_path
    monkeypatch.chdir(place / "folder")
    commit = subprocess.run(["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    assert provenance()["git commit"] == commit
    (place / "folder" / "file").write_text("two")
    assert provenance()["git commit"] == f"{commit}-dirty"


def test_the_folder_that_one_works_in_runs_nothing(tmp_path, monkeypatch):
    folder, ran = tmp_path / "received", tmp_path / "ran"
    folder.mkdir()
    _git(folder, "init")
    (folder / "file").write_text("one")
    (folder / ".gitattributes").write_text("* filter=evil diff=evil\n")
    _git(folder, "add", ".")
    _git(folder, "commit", "-m", "first")
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\necho $0 >> {ran}\ncat\n")
    script.chmod(0o755)
    (folder / ".git" / "more").write_text(f"[core]\nfsmonitor = {script}\n")
    for name, value in {
        "core.fsmonitor": script, "core.hooksPath": tmp_path, "filter.evil.clean": script,
        "filter.evil.process": script,
        "filter.evil.required": "true", "diff.external": script, "diff.evil.textconv": script, "core.pager": script,
        "core.sshCommand": script, "include.path": "more", "core.alternateRefsCommand": script,
    }.items():  # fmt: skip
        _git(folder, "config", name, str(value))
    for hook in ("post-index-change", "fsmonitor-watchman"):
        (folder / ".git" / "hooks" / hook).write_text(script.read_text())
        (folder / ".git" / "hooks" / hook).chmod(0o755)
        (tmp_path / hook).symlink_to(script)
    (folder / "file").write_text("two")
    monkeypatch.chdir(folder)
    assert re.fullmatch("[0-9a-f]{40}-dirty", provenance()["git commit"])
    assert not ran.exists()
    subprocess.run(["git", "status"], check=False, capture_output=True)
    assert ran.exists()  # which is what it would run


def test_a_version_in_the_making_is_told_by_the_names_and_the_bytes_of_its_sources():
    files = sorted((ROOT / "fedtheory").rglob("*.py"))
    read = b"".join(str(file.relative_to(ROOT / "fedtheory")).encode() + file.read_bytes() for file in files)
    assert made_by().endswith(f" ({hashlib.sha256(read).hexdigest()[:8]})")
