"""What is said about where a result was made."""

import hashlib
import re
import subprocess

from fedtheory._releases import made_by
from fedtheory._surroundings import surroundings
from tests.environment import ROOT


def _git(folder, *words):
    identity = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def test_the_commit_of_the_working_directory_is_said_and_whether_files_differ_from_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "git commit" not in surroundings()
    _git(tmp_path, "init")
    assert "git commit" not in surroundings()
    (tmp_path / "file").write_text("one")
    _git(tmp_path, "add", "file")
    _git(tmp_path, "commit", "-m", "first")
    _git(tmp_path, "tag", "-a", "v1", "-m", "a tag does not hide the commit")
    assert re.fullmatch("[0-9a-f]{40}", surroundings()["git commit"])
    (tmp_path / "file").write_text("two")
    assert re.fullmatch("[0-9a-f]{40}-dirty", surroundings()["git commit"])
    monkeypatch.setenv("PATH", "")
    assert "git commit" not in surroundings()


def test_a_version_in_the_making_is_told_by_the_names_and_the_bytes_of_its_sources():
    files = sorted((ROOT / "fedtheory").rglob("*.py"))
    read = b"".join(str(file.relative_to(ROOT / "fedtheory")).encode() + file.read_bytes() for file in files)
    assert made_by().endswith(f" ({hashlib.sha256(read).hexdigest()[:8]})")
